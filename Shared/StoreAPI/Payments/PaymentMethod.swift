/// A payment processor's token for what is charged, such as a buyer's card.
///
/// Only the processor can tell whether it has such a method, so any text is allowed. In the wire
/// format it is a JSON string.
public struct PaymentMethod: RawRepresentable, Codable, Hashable, Sendable,
    ExpressibleByStringLiteral, CustomStringConvertible
{
    /// The token as text.
    public let rawValue: String

    /// Wraps a token.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Wraps a token that stands in the code.
    public init(stringLiteral token: String) { self.init(rawValue: token) }

    /// The token as text.
    public var description: String { rawValue }
}
