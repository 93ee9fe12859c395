public import EventTypes

/// The type and the subtype of an App Store server notification.
public struct SubscriptionNotification: Hashable, Sendable, CustomStringConvertible {
    /// The type, such as `DID_RENEW`.
    public var type: String
    /// The subtype, such as `BILLING_RECOVERY`; `nil` if there is none.
    public var subtype: String?

    /// Makes a notification.
    public init(_ type: String, _ subtype: String? = nil) {
        self.type = type
        self.subtype = subtype
    }

    /// Type and subtype, as people write them.
    public var description: String { subtype.map { "\(type)/\($0)" } ?? type }
}

extension SubscriptionCause {
    /// The notifications of a change, in their order (rule S90).
    ///
    /// An upgrade by an offer that was redeemed is notified as that (row e27).
    ///
    /// - Parameter subscription: The subscription after the change.
    /// - Returns: The notifications.
    public func notifications(of subscription: Subscription) -> [SubscriptionNotification] {
        guard self == .upgraded, let offer = subscription.period.offer,
            offer.type == .promotional || offer.type == .code
        else { return notifications }
        return [SubscriptionNotification("OFFER_REDEEMED", "UPGRADE")]
    }

    /// The notifications of a change without an offer.
    public var notifications: [SubscriptionNotification] {
        switch self {
        case .purchased: [SubscriptionNotification("SUBSCRIBED", "INITIAL_BUY")]
        case .resubscribed: [SubscriptionNotification("SUBSCRIBED", "RESUBSCRIBE")]
        case .upgraded: [SubscriptionNotification("DID_CHANGE_RENEWAL_PREF", "UPGRADE")]
        case .productScheduled: [SubscriptionNotification("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE")]
        case .scheduleWithdrawn: [SubscriptionNotification("DID_CHANGE_RENEWAL_PREF")]
        case .autoRenewTurnedOff: [.autoRenewDisabled]
        case .autoRenewTurnedOn:
            [SubscriptionNotification("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED")]
        case .offerRedeemed: [SubscriptionNotification("OFFER_REDEEMED")]
        case .renewed, .renewedLate: [SubscriptionNotification("DID_RENEW")]
        case .gracePeriodBegan: [SubscriptionNotification("DID_FAIL_TO_RENEW", "GRACE_PERIOD")]
        case .billingRetryBegan: [SubscriptionNotification("DID_FAIL_TO_RENEW")]
        case .recovered: [SubscriptionNotification("DID_RENEW", "BILLING_RECOVERY")]
        case .gracePeriodEnded: [SubscriptionNotification("GRACE_PERIOD_EXPIRED")]
        case .billingRetryEnded: [SubscriptionNotification("EXPIRED", "BILLING_RETRY")]
        case .cancelledUnpaid:
            [.autoRenewDisabled, SubscriptionNotification("EXPIRED", "VOLUNTARY")]
        case .expired: [SubscriptionNotification("EXPIRED", "VOLUNTARY")]
        case .productUnavailable: [SubscriptionNotification("EXPIRED", "PRODUCT_NOT_FOR_SALE")]
        case .ended: [SubscriptionNotification("EXPIRED")]
        case .priceIncreaseAsked: [SubscriptionNotification("PRICE_INCREASE", "PENDING")]
        case .priceIncreaseAgreed, .priceIncreaseNotified:
            [SubscriptionNotification("PRICE_INCREASE", "ACCEPTED")]
        case .priceIncreaseScheduled, .priceIncreaseDeclined, .priceIncreaseWithdrawn: []
        case .priceNotAgreed: [SubscriptionNotification("EXPIRED", "PRICE_INCREASE")]
        case .refunded, .nextPeriodRefunded:
            [.autoRenewDisabled, SubscriptionNotification("REFUND")]
        case .moneyRefunded, .lastPeriodRefunded: [SubscriptionNotification("REFUND")]
        case .refundReversed: [SubscriptionNotification("REFUND_REVERSED")]
        case .extended: [SubscriptionNotification("RENEWAL_EXTENDED")]
        case .unknown: []
        }
    }
}

extension SubscriptionNotification {
    fileprivate static let autoRenewDisabled = SubscriptionNotification(
        "DID_CHANGE_RENEWAL_STATUS",
        "AUTO_RENEW_DISABLED"
    )
}
