/// The reason why a request about an account is refused.
enum AccountRefusal: Error, Hashable, Sendable {
    /// The change is empty.
    case changeEmpty
    /// A payment would be refused for the same reason.
    case payment(PaymentRefusal)
    /// The account has the maximum number of open purchase intents.
    case tooManyPurchaseIntents(max: Int)
    /// The purchase intent does not exist or belongs to another account.
    case purchaseIntentUnknown
}
