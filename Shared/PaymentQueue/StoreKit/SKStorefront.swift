import EventTypes

/// The buyer's storefront (spec rule 5).
public struct SKStorefront: Hashable, Sendable {
    /// The country code in ISO 3166-1 alpha-3, such as `USA`.
    public let countryCode: String
    /// The storefront's number, such as `143441` for the USA.
    ///
    /// It never changes.
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
