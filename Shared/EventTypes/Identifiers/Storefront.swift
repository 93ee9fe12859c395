/// A storefront: an ISO 3166-1 alpha-3 code, as in StoreKit's `SKStorefront.countryCode`.
public struct Storefront: Identifier {
    /// Three upper-case letters of ISO 3166-1.
    public static let form = "an ISO 3166-1 alpha-3 storefront such as USA"
    /// The code.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Whether the string is a country code of ISO 3166-1 alpha-3.
    public static func isWellFormed(_ rawValue: String) -> Bool { codes.contains(rawValue) }
}
