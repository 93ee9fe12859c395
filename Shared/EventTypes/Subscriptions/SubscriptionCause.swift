/// The cause of a change of a subscription: a row of the table in docs/subscriptions.md.
public enum SubscriptionCause: OpenEnum {
    /// The first purchase in the group (row e1).
    case purchased
    /// A purchase after the end (row e8).
    case resubscribed
    /// A change to another product at once (row e22).
    case upgraded
    /// A change to another product with the next renewal (row e23).
    case productScheduled
    /// Such a change was withdrawn (row e24).
    case scheduleWithdrawn
    /// The customer turned auto-renew off (row e9).
    case autoRenewTurnedOff
    /// The customer turned auto-renew on (rows e6 and e10).
    case autoRenewTurnedOn
    /// An offer was redeemed that begins with the next renewal (row e26).
    case offerRedeemed
    /// The next period was paid (rows e11 and e25).
    case renewed
    /// The next period was paid after an outage of the store and begins now (rule S520).
    case renewedLate
    /// The period ended unpaid, with a grace period (row e12).
    case gracePeriodBegan
    /// The period ended unpaid, without a grace period (row e13).
    case billingRetryBegan
    /// A charge in the grace or the billing retry period succeeded (rows e7 and e14).
    case recovered
    /// The grace period is over (row e15).
    case gracePeriodEnded
    /// The billing retry period is over (row e16).
    case billingRetryEnded
    /// The customer turned auto-renew off while the store tried to charge (row e17).
    case cancelledUnpaid
    /// The period ended, and auto-renew was off (row e18).
    case expired
    /// The period ended, and the product was not renewed any more (row e20).
    case productUnavailable
    /// The subscription was ended for another reason (row e21).
    case ended
    /// The catalog raises the price. The customer does not know it yet (rule S121).
    case priceIncreaseScheduled
    /// The customer was asked to agree to a higher price (row e29).
    case priceIncreaseAsked
    /// The customer was informed of a higher price that needs no consent (row e31).
    case priceIncreaseNotified
    /// The customer agreed to a higher price (row e30).
    case priceIncreaseAgreed
    /// The customer declined a higher price (row e32).
    case priceIncreaseDeclined
    /// The catalog took an increase back before it was charged (row e33).
    case priceIncreaseWithdrawn
    /// The period ended, and the customer had not agreed to the price of the next one (row e19).
    case priceNotAgreed
    /// The current period was refunded (row e34).
    case refunded
    /// A refund that changes nothing but money: of an older period, or of a part (row e35).
    case moneyRefunded
    /// The last period was refunded after its end (row e36).
    case lastPeriodRefunded
    /// A period that had not begun was refunded.
    case nextPeriodRefunded
    /// A refund was reversed (rows e37 and e38).
    case refundReversed
    /// The period was extended (row e40).
    case extended
    /// A cause that only a newer version of the store knows.
    case unknown(String)

    /// All causes that this version knows.
    public static let all: [SubscriptionCause] = [
        .purchased, .resubscribed, .upgraded, .productScheduled, .scheduleWithdrawn,
        .autoRenewTurnedOff, .autoRenewTurnedOn, .offerRedeemed, .renewed, .renewedLate,
        .gracePeriodBegan,
        .billingRetryBegan, .recovered, .gracePeriodEnded, .billingRetryEnded, .cancelledUnpaid,
        .expired, .productUnavailable, .ended, .priceIncreaseScheduled, .priceIncreaseAsked,
        .priceIncreaseNotified, .priceIncreaseAgreed, .priceIncreaseDeclined,
        .priceIncreaseWithdrawn, .priceNotAgreed, .refunded, .moneyRefunded, .lastPeriodRefunded,
        .nextPeriodRefunded, .refundReversed, .extended,
    ]

    /// Recognizes a cause.
    ///
    /// An unknown one is kept.
    public init(rawValue: String) {
        self = Self.all.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
    }

    /// The cause in its wire format.
    public var rawValue: String {
        switch self {
        case .purchased: "purchased"
        case .resubscribed: "resubscribed"
        case .upgraded: "upgraded"
        case .productScheduled: "productScheduled"
        case .scheduleWithdrawn: "scheduleWithdrawn"
        case .autoRenewTurnedOff: "autoRenewTurnedOff"
        case .autoRenewTurnedOn: "autoRenewTurnedOn"
        case .offerRedeemed: "offerRedeemed"
        case .renewed: "renewed"
        case .renewedLate: "renewedLate"
        case .gracePeriodBegan: "gracePeriodBegan"
        case .billingRetryBegan: "billingRetryBegan"
        case .recovered: "recovered"
        case .gracePeriodEnded: "gracePeriodEnded"
        case .billingRetryEnded: "billingRetryEnded"
        case .cancelledUnpaid: "cancelledUnpaid"
        case .expired: "expired"
        case .productUnavailable: "productUnavailable"
        case .ended: "ended"
        case .priceIncreaseScheduled: "priceIncreaseScheduled"
        case .priceIncreaseAsked: "priceIncreaseAsked"
        case .priceIncreaseNotified: "priceIncreaseNotified"
        case .priceIncreaseAgreed: "priceIncreaseAgreed"
        case .priceIncreaseDeclined: "priceIncreaseDeclined"
        case .priceIncreaseWithdrawn: "priceIncreaseWithdrawn"
        case .priceNotAgreed: "priceNotAgreed"
        case .refunded: "refunded"
        case .moneyRefunded: "moneyRefunded"
        case .lastPeriodRefunded: "lastPeriodRefunded"
        case .nextPeriodRefunded: "nextPeriodRefunded"
        case .refundReversed: "refundReversed"
        case .extended: "extended"
        case .unknown(let rawValue): rawValue
        }
    }
}
