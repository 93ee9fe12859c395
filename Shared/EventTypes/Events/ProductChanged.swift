/// `product.changed.v1`: a product was created, changed, or put on or off sale.
public struct ProductChanged: Event, Hashable {
    /// The whole product at its new version.
    public var product: Product
    /// The administrator who changed it; `nil` in older events without this field.
    public var changedBy: String?
    /// The administrator's reason; `nil` if none was given.
    public var reason: ActReason?
    /// Makes the event.
    public init(product: Product, changedBy: String? = nil, reason: ActReason? = nil) {
        self.product = product
        self.changedBy = changedBy
        self.reason = reason
    }
}
