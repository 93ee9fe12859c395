public import Foundation

/// A price increase that the subscriber has to agree to (spec rule 106).
public struct SKPriceIncrease: Hashable, Sendable {
    /// The product whose price rises.
    public let productIdentifier: String
    /// The new price, in units of the currency.
    public let price: Decimal
    /// The currency, ISO 4217.
    public let currencyCode: String
}
