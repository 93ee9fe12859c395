import EventTypes
import StoreAPI

/// The reason why a payment request is refused.
///
/// A refusal changes nothing and does not use up its key.
enum PaymentRefusal: Error, Hashable, Sendable {
    /// The fault of a signed offer that is not for a payment.
    enum OfferFault: String, Sendable {
        case nonce = "The nonce is not a UUID."
        case form = "The signature is not an ECDSA signature in DER and base64."
        case token = "The offer is not a JWS with ES256, or lacks a claim."
        case issuer = "The issuer (iss) is not that of the key."
        case audience = "The JWS is signed for another use (aud)."
        case bundle = "The offer is signed for another app (bid)."
        case product = "The offer is signed for another product (productId)."
        case customer = "The offer is signed for a transaction of another account (transactionId)."
        case signature = "The signature is not by the key that it names, or is of other values."
    }

    /// No product with this id was ever sold.
    case productUnknown
    /// The product is off sale, or not sold in this storefront.
    case productUnavailable
    /// The product is an auto-renewable subscription that was defined without its group and period.
    case productTypeNotSoldYet(ProductID)
    /// The quantity is below one or above `max`.
    case quantityOutOfRange(max: Int)
    /// The storefront sells in another currency.
    case wrongCurrency(expected: Currency)
    /// The price has changed since the buyer saw it; `current` is the present price of one unit.
    case stalePrice(current: Money)
    /// The account may not have the offer that its buyer was shown.
    case offerNotAvailable
    /// The offer has changed since the buyer saw it.
    case staleOffer(current: OfferListing)
    /// The product has no active offer of this id in the storefront (rule S49).
    case offerUnknown(String)
    /// A signed offer lacks these members.
    case offerIncomplete(missing: [String])
    /// The app has no key of this id.
    case offerKeyUnknown(String)
    /// The offer is not signed by the key that it names, or not for this payment.
    case offerSignatureInvalid(OfferFault)
    /// The signature is too old, or of the future.
    case offerExpired
    /// The signature was used by another payment.
    case offerNonceUsed
    /// The offer costs more than the ordinary price.
    case offerPriceInvalid
    /// The request has more than one form of a signed offer, or the product is no subscription.
    case offersContradict
    /// There is no such code in the app (rule S57).
    case codeUnknown
    /// The code is no longer good, or was deactivated.
    case codeExpired
    /// The code was redeemed, or as often as it can be.
    case codeUsed
    /// The account has redeemed a code of the offer before.
    case codeRedeemedBefore
    /// The code is for these customers only.
    case codeNotForCustomer([CustomerKind])
    /// The offer of the code, or its product, is not sold any more in the storefront.
    case codeOfferEnded
    /// Price times quantity overflows an amount of money.
    case priceOverflow
    /// The processor does not know the payment method.
    case paymentMethodUnknown
    /// The store has no processor for this payment method, or the request names no method and there
    /// is no default.
    case paymentMethodNotAvailable(PaymentMethod?)
    /// The application username is longer than `max`.
    case applicationUsernameTooLong(max: Int)
    /// The key was used for a different request.
    case idempotencyKeyReused
    /// The account may not pay (spec rules 1 and 2).
    case paymentsNotAllowed
    /// The account buys in the storefront `current`, not in the one that the request names (spec
    /// rules 8 and 9).
    case storefrontChanged(current: Storefront)
    /// The account has a subscription in the product's group, and the product does not replace it at
    /// once; the product is the running one (rules S100 to S104 of docs/subscriptions.md).
    case alreadySubscribed(to: ProductID)
    /// There is no such open purchase intent, or it is for another product or quantity.
    case purchaseIntentUnknown
}
