import EventTypes

/// Why a payment request is refused.
///
/// A refusal changes nothing and does not use up its key.
enum PaymentRefusal: Error, Hashable, Sendable {
    /// No product of this name was ever sold.
    case productUnknown
    /// The product is off sale, or not sold in this storefront.
    case productUnavailable
    /// The product is of a type that the store does not sell yet: an auto-renewable subscription
    /// would be charged once and never end.
    case productTypeNotSoldYet(ProductID)
    /// The quantity is below one or above this.
    case quantityOutOfRange(max: Int)
    /// The storefront sells in another currency.
    case wrongCurrency(expected: Currency)
    /// The price changed since the buyer saw it; this is what one costs at present.
    case stalePrice(current: Money)
    /// Price times quantity is more than an amount can hold.
    case priceOverflow
    /// The processor does not know the payment method.
    case paymentMethodUnknown
    /// The store has no processor for this payment method, or none was named and there is none to
    /// fall back on.
    case paymentMethodNotAvailable(String?)
    /// The application username is longer than this.
    case applicationUsernameTooLong(max: Int)
    /// The key was used for a different request.
    case idempotencyKeyReused
    /// The account may not pay (spec rules 1 and 2).
    case paymentsNotAllowed
    /// The account buys in this storefront, and not in the one that is named (spec rules 8 and 9).
    case storefrontChanged(current: Storefront)
    /// No such purchase intent is open, or it is about something else.
    case purchaseIntentUnknown
}
