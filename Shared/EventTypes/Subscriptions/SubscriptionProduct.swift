/// A product of a subscription group, with the price that one account pays for it.
public struct SubscriptionProduct: Codable, Hashable, Sendable {
    /// The product.
    public var id: ProductID
    /// Its group, level and period (rules S10 to S13).
    ///
    /// The level is that of the time when the account chose the product (rule S11).
    public var terms: SubscriptionTerms
    /// The price of one period for this account (rule S31).
    public var price: Money

    /// Makes a product.
    public init(id: ProductID, terms: SubscriptionTerms, price: Money) {
        self.id = id
        self.terms = terms
        self.price = price
    }
}
