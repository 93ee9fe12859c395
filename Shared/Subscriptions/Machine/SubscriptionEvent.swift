public import EventTypes

/// Something that happens to a subscription.
///
/// A purchase that fails or waits for approval is no event: it changes nothing (rows e3 and e4).
public enum SubscriptionEvent: Hashable, Sendable {
    /// A purchase was charged (rows e1, e8 and e22).
    case purchaseCharged(SubscriptionPurchase)
    /// The customer chose another product for the next period (row e23).
    case productScheduled(SubscriptionProduct)
    /// The customer stays with the present product (row e24).
    case scheduleWithdrawn
    /// The customer redeemed an offer for the running product (row e26).
    case offerRedeemed(PeriodOffer)
    /// A price rises for the subscription (rule S121). One that is pending is asked about at once.
    case priceIncreaseScheduled(PriceIncrease)
    /// The increase is taken back (row e33).
    case priceIncreaseWithdrawn
    /// The customer answers the question about an increase; `nil` stands for the present one (rows
    /// e30 and e32).
    case priceIncreaseAnswered(PriceChangeID?, isAgreed: Bool)
    /// The customer turned auto-renew on (rows e6 and e10).
    case autoRenewTurnedOn
    /// The customer turned auto-renew off (rows e9 and e17).
    case autoRenewTurnedOff
    /// The customer wants to be charged now, such as with another card (row e7).
    case chargeRequested(RenewalQuote)
    /// A test has the running period end now, and the next one begin.
    case renewalForced(RenewalQuote)
    /// A due action is carried out. Only charges look at the quote.
    case due(DueAction.Kind, RenewalQuote)
    /// A charge succeeded; the transaction is that of its period (rows e11, e14 and e25).
    case chargeSucceeded(RenewalChargeKey, TransactionID, capturedAt: StoreTime)
    /// A charge failed for a reason, and the processor will not make it.
    case chargeFailed(RenewalChargeKey, RenewalProblem = .billing)
    /// The processor did not say what became of a charge. Somebody has to ask (rule S84).
    case chargeUnknown(RenewalChargeKey)
    /// Money of a period went back (rows e34 to e36). A refund that does not revoke leaves the
    /// service to the customer.
    case refunded(TransactionID, Money, revokes: Bool)
    /// A refund was reversed (rows e37 and e38). It restores what the last revoking refund took.
    case refundReversed(TransactionID, Money, restores: Bool)
    /// The end of the newest period is moved (row e40).
    case extended(RequestedExtension)
    /// The subscription ends now for another reason, such as a closed account (rows e20 and e21).
    case ended(ExpirationIntent)

    /// Whether somebody asked for it, so that overdue actions come first (rule S112).
    ///
    /// The outcome of a charge is no request. It may decide what is overdue.
    var isRequest: Bool {
        switch self {
        case .due, .chargeSucceeded, .chargeFailed, .chargeUnknown: false
        default: true
        }
    }
}
