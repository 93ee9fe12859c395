/// A payment method that an account has saved, as its buyer recognises it.
public struct PaymentMethodListing: Codable, Hashable, Sendable {
    /// The token that payments name.
    public var paymentMethod: PaymentMethod
    /// The brand of the card, such as `visa`.
    public var brand: String
    /// The last four digits of the card.
    public var lastFour: String
    /// The month in which the card ends, from 1.
    public var expiryMonth: Int
    /// The year in which the card ends.
    public var expiryYear: Int

    /// Makes a document.
    public init(
        paymentMethod: PaymentMethod,
        brand: String,
        lastFour: String,
        expiryMonth: Int,
        expiryYear: Int
    ) {
        self.paymentMethod = paymentMethod
        self.brand = brand
        self.lastFour = lastFour
        self.expiryMonth = expiryMonth
        self.expiryYear = expiryYear
    }
}
