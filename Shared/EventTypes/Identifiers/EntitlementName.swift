/// The name of an entitlement, such as `pro`.
///
/// Several products may give the same one. The app asks for the name, and the catalog says which
/// products give it.
public struct EntitlementName: Identifier {
    /// 1 to 64 letters, digits, hyphens, underscores and full stops.
    public static let form =
        "an entitlement's name of 1 to 64 letters, digits, hyphens, underscores and full stops"
    /// The name's characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Whether the string is 1 to 64 letters, digits, hyphens, underscores and full stops.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        isName(rawValue, lengthMax: 64, punctuation: "-._")
    }
}
