/// A payment method of a buyer, with what a buyer recognises it by.
package struct StripePaymentMethod: Hashable, Sendable, Decodable {
    /// A card, without its number.
    package struct Card: Hashable, Sendable, Decodable {
        /// The brand, such as `visa`.
        package var brand: String
        /// The last four digits.
        package var lastFour: String
        /// The month and the year in which it ends.
        package var expiryMonth: Int
        package var expiryYear: Int

        enum CodingKeys: String, CodingKey {
            case brand
            case lastFour = "last4"
            case expiryMonth = "exp_month"
            case expiryYear = "exp_year"
        }
    }

    /// The id, `pm_…`.
    package var id: String
    /// The buyer at Stripe; `nil` if it is not saved.
    package var customer: StripeReference?
    /// The card; `nil` if it is none.
    package var card: Card?
}
