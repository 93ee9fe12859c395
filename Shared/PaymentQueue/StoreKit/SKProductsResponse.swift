/// The catalog's answer to a products request.
public struct SKProductsResponse: Sendable {
    /// The products that can be bought in the buyer's storefront.
    public let products: [SKProduct]
    /// The requested identifiers that cannot be bought: unknown, off sale, or not sold in this
    /// storefront.
    public let invalidProductIdentifiers: [String]
}

/// ``SKProductsResponse`` without its prefix.
public typealias ProductsResponse = SKProductsResponse
