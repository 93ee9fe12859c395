import Subscriptions

import EventTypes

/// The reasons to refuse a decision about a subscription.
enum SubscriptionChangeRefusal: Error, Hashable, Sendable {
    /// The subscription has ended; only a purchase begins it again.
    case ended
    /// There is no such product, or it is not sold in the storefront of the subscription.
    case productUnavailable
    /// The account has not saved the payment method, or the processor has none of this name.
    case paymentMethodUnknown
    /// Somebody asked for the charge of what is owed as often as a day allows (``AskedTries``). A
    /// payment method that they named is saved all the same.
    case tooManyTries(retryAfter: Duration)
    /// The product belongs to another group (rule S10 of docs/subscriptions.md).
    case otherGroup
    /// The product is charged at once, so it has to be bought (rule S101).
    case needsPayment
    /// The period is paid, so there is nothing to charge.
    case nothingOwed
    /// Auto-renew is off, so no period follows.
    case notRenewing
    /// The next period is paid already.
    case paidInAdvance

    /// The customer was not asked about a price.
    case notAsked
    /// A later question about another price has replaced the one that is answered.
    case questionReplaced
    /// The customer has given the other answer.
    case answeredOtherwise
    /// The price is not higher than the one that the customer pays.
    case noIncrease
    /// The higher price of an increase is being charged, or is owed for an unpaid period.
    case priceInUse
    /// The price is higher than that of the catalog, which a renewal never exceeds.
    case aboveCatalog
    /// The next renewal pays for another product than the one whose price rises.
    case otherProduct
    /// The subscription cannot be extended: it is not active, or its period is free.
    case notExtendable
    /// The subscription was extended as often as it may be in a year.
    case tooManyExtensions
    /// The identifier was used for another extension.
    case extensionDiffers

    /// The refusal of a change that the rules of subscriptions refuse.
    init(_ refusal: SubscriptionRefusal) {
        switch refusal {
        case .nothingOwed: self = .nothingOwed
        case .notRenewing: self = .notRenewing
        case .paidInAdvance: self = .paidInAdvance
        case .notAsked: self = .notAsked
        case .questionReplaced: self = .questionReplaced
        case .answeredOtherwise: self = .answeredOtherwise
        case .noIncrease: self = .noIncrease
        case .priceInUse: self = .priceInUse
        case .notExtendable: self = .notExtendable
        case .tooManyExtensions: self = .tooManyExtensions
        case .extensionDiffers: self = .extensionDiffers
        case .notSubscribed, .ended, .otherGroup, .isCurrent, .needsCharge, .stateUnknown:
            self = .ended
        }
    }
}
