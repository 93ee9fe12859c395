/// The identifier of a product.
///
/// It is unique in the catalog forever, even after the product's sale has ended (spec rule 97).
public struct ProductID: Identifier {
    /// 1 to 255 letters, digits, hyphens, underscores and full stops.
    public static let form =
        "a product id of 1 to 255 letters, digits, hyphens, underscores and full stops"
    /// The identifier's characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Whether the string is 1 to 255 letters, digits, hyphens, underscores and full stops.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        isName(rawValue, lengthMax: 255, punctuation: "-._")
    }
}
