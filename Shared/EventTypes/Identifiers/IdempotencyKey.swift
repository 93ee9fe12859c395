/// The key that a client chooses for a request, and repeats when it repeats the request.
public struct IdempotencyKey: Identifier {
    /// 1 to 255 visible ASCII characters.
    public static let form = "an idempotency key of 1 to 255 visible ASCII characters"
    /// The key's characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Whether the string is 1 to 255 visible ASCII characters.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        isVisibleASCII(rawValue, lengthMax: 255)
    }
}
