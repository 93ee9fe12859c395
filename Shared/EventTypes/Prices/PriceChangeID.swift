/// The identifier of a change of a price, unique for ever.
public struct PriceChangeID: Identifier {
    /// 1 to 200 visible ASCII characters.
    public static let form = "a price change id of 1 to 200 visible ASCII characters"
    /// The identifier's characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Whether the string is 1 to 200 visible ASCII characters.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        isVisibleASCII(rawValue, lengthMax: 200)
    }
}
