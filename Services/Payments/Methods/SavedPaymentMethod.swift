import EventTypes
import StoreAPI

/// A payment method that an account has saved.
struct SavedPaymentMethod: Hashable, Sendable {
    let token: PaymentMethod
    /// The brand and the last four digits, by which a buyer recognises a card.
    let brand: String
    let lastFour: String
    let expiryMonth: Int
    let expiryYear: Int
    /// The processor's id of the buyer's agreement to be charged while they are away.
    let mandate: String
}
