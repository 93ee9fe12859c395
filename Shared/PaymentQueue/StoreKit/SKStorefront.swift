import EventTypes

/// The buyer's region of sale (spec rule 5).
public struct SKStorefront: Hashable, Sendable {
    /// ISO 3166-1 alpha-3, such as `USA`.
    public let countryCode: String
    /// The storefront's number, such as `143441` for the USA; the same for ever.
    ///
    /// It is the `storefrontId` of signed transactions.
    public let identifier: String

    init(_ storefront: EventTypes.Storefront) {
        countryCode = storefront.rawValue
        identifier = storefront.number
    }
}

/// ``SKStorefront`` without its prefix.
public typealias Storefront = SKStorefront
