/// The identifier of an offer, unique among the offers of its product of one kind.
public struct OfferID: Identifier {
    /// 1 to 64 letters, digits, hyphens, underscores and full stops.
    public static let form =
        "an offer id of 1 to 64 letters, digits, hyphens, underscores and full stops"
    /// The identifier's characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Whether the string is 1 to 64 letters, digits, hyphens, underscores and full stops.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        isName(rawValue, lengthMax: 64, punctuation: "-._")
    }
}
