import EventTypes

/// The rules for which notifications a buyer's request for a refund causes (rules e39 and e46 of
/// docs/subscriptions.md).
///
/// Pure.
enum RefundRequestNotificationRules {
    /// A notification that a request causes.
    struct Planned: Hashable, Sendable {
        let kind: NotificationKind
        /// The buyer's reason, which only `CONSUMPTION_REQUEST` has.
        let reason: String?
        let request: RequestedRefund
    }

    /// Returns the notification of a request that is new or has just been decided; `nil` if there is
    /// none.
    ///
    /// The merchant is asked about what can be used up: consumables and subscriptions that renew. An
    /// approval is reported by the refund itself.
    static func notification(of request: RequestedRefund) -> Planned? {
        switch request.state {
        case .open where isAskedAbout(request.productType):
            Planned(kind: .consumptionRequest, reason: request.reason.word, request: request)
        case .declined: Planned(kind: .refundDeclined, reason: nil, request: request)
        case .open, .approved, .unknown: nil
        }
    }

    private static func isAskedAbout(_ type: ProductType) -> Bool {
        type == .consumable || type == .autoRenewableSubscription
    }
}

extension RefundReason {
    /// The reason in Apple's words.
    fileprivate var word: String {
        switch self {
        case .unintendedPurchase: "UNINTENDED_PURCHASE"
        case .fulfillmentIssue: "FULFILLMENT_ISSUE"
        case .unsatisfied: "UNSATISFIED_WITH_PURCHASE"
        case .legal: "LEGAL"
        case .other, .unknown: "OTHER"
        }
    }
}
