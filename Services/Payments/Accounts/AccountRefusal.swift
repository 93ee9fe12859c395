/// The reason why a request about an account is refused.
enum AccountRefusal: Error, Hashable, Sendable {
    /// The change is empty.
    case changeEmpty
    /// A payment would be refused for the same reason.
    case payment(PaymentRefusal)
    /// The account has the maximum number of open purchase intents.
    case tooManyPurchaseIntents(max: Int)
    /// The account has been asked about the maximum number of products.
    case tooManyPriceConsents(max: Int)
    /// The product is not a subscription; only subscribers are asked about a price increase.
    case notASubscription
    /// The price is below zero.
    case priceNegative
    /// The purchase intent does not exist or belongs to another account.
    case purchaseIntentUnknown
    /// The price consent does not exist or belongs to another account.
    case priceConsentUnknown
    /// A later question about another price has replaced this one.
    case priceConsentReplaced
    /// The subscriber has decided the opposite.
    case decidedOtherwise
}
