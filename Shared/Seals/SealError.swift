/// A row of the seals, or of the months that have left, that is none: somebody has written there.
public struct SealError: Error, CustomStringConvertible, Sendable {
    /// What is wrong.
    public let message: String

    init(_ message: String) { self.message = message }

    /// The failure in words, without any payload.
    public var description: String { message }
}
