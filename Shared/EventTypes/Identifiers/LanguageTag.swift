/// The language of a product's texts: a BCP 47 tag such as `en-US`.
public struct LanguageTag: Identifier {
    /// 2 to 35 letters, digits and hyphens.
    public static let form = "a BCP 47 language tag such as en-US"
    /// The tag.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Whether the string is 2 to 35 letters, digits and hyphens.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        rawValue.utf8.count >= 2 && isName(rawValue, lengthMax: 35, punctuation: "-")
    }
}
