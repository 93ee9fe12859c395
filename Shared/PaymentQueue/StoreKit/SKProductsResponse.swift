/// What the catalog says to a products request.
public struct SKProductsResponse: Sendable {
    /// The products that can be bought in the buyer's storefront.
    public let products: [SKProduct]
    /// The identifiers that cannot: unknown, off sale, or not sold there.
    public let invalidProductIdentifiers: [String]
}

/// ``SKProductsResponse`` without its prefix.
public typealias ProductsResponse = SKProductsResponse
