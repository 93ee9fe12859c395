/// The buyer's region of sale (spec rule 5).
public struct SKStorefront: Hashable, Sendable {
    /// ISO 3166-1 alpha-3, such as `USA`.
    public let countryCode: String
    /// A name that stays the same however countries are written; here the country code.
    public var identifier: String { countryCode }
}
