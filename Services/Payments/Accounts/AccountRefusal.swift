/// Why something said of an account, or by it, changes nothing.
enum AccountRefusal: Error, Hashable, Sendable {
    /// The change says nothing.
    case changeEmpty
    /// What a payment would be refused for as well.
    case payment(PaymentRefusal)
    /// The account has as many open purchase intents as it may.
    case tooManyPurchaseIntents(max: Int)
    /// The account was asked about as many products as it may.
    case tooManyPriceConsents(max: Int)
    /// Only a subscription's price rises for those who have it.
    case notASubscription
    /// The price is below zero.
    case priceNegative
    /// No such purchase intent, or somebody else's.
    case purchaseIntentUnknown
    /// No such price consent, or somebody else's.
    case priceConsentUnknown
    /// Another price is asked about by now.
    case priceConsentReplaced
    /// The subscriber has said the opposite.
    case decidedOtherwise
}
