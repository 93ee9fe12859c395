public import EventTypes

/// The response to a products request (spec rules 98 and 99).
///
/// It divides the requested identifiers into those that can be bought and those that cannot. If no
/// identifiers were requested, it is one page of all products on sale.
public struct ProductsResponse: Codable, Hashable, Sendable {
    /// The storefront of the prices.
    public var storefront: Storefront
    /// The products that can be bought there, in the order of the request or of their identifiers.
    public var products: [ProductListing]
    /// The requested identifiers that cannot be bought: unknown, off sale, or not sold there.
    public var invalidProductIDs: [String]
    /// The product after which the next page begins; `nil` on the last page, and if identifiers
    /// were requested.
    public var next: ProductID?

    /// Makes a response.
    public init(
        storefront: Storefront,
        products: [ProductListing],
        invalidProductIDs: [String],
        next: ProductID? = nil
    ) {
        self.storefront = storefront
        self.products = products
        self.invalidProductIDs = invalidProductIDs
        self.next = next
    }
}
