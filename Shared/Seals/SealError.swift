/// An invalid row in the table of seals or of archived months, which somebody must have changed by
/// hand.
public struct SealError: Error, CustomStringConvertible, Sendable {
    /// The problem.
    public let message: String

    init(_ message: String) { self.message = message }

    /// A description of the failure, without any payload.
    public var description: String { message }
}
