public import EventTypes

/// The answer to a products request (spec rules 98 and 99): the request's identifiers, parted into
/// those that can be bought and those that cannot; or a page of everything that is on sale.
public struct ProductsResponse: Codable, Hashable, Sendable {
    /// The storefront that the prices are of.
    public var storefront: Storefront
    /// The products that can be bought there: in the order of the request, or of their identifiers.
    public var products: [ProductListing]
    /// The identifiers of the request that cannot: unknown, off sale, or not sold there.
    public var invalidProductIDs: [String]
    /// After which product the next page begins; `nil` on the last, and if identifiers were asked for.
    public var next: ProductID?

    /// Makes an answer.
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
