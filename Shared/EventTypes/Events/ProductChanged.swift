/// `product.changed.v1`: a product was created, changed, or put on or off sale.
public struct ProductChanged: Event, Hashable {
    /// The product, whole, at its new version.
    public var product: Product
    /// The administrator who changed it; `nil` in events of before they said so.
    public var changedBy: String?
    /// Makes the event.
    public init(product: Product, changedBy: String? = nil) {
        self.product = product
        self.changedBy = changedBy
    }
}
