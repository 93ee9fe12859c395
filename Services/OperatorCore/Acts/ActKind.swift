import EventTypes

/// The kinds of acts that can be listed.
package enum ActKind: String, CaseIterable, Sendable {
    /// About buyers: refunds, approvals and subscriptions.
    case buyers
    /// Refunds and their reversals.
    case refunds
    /// Approvals and declines.
    case approvals
    /// Changes of subscriptions.
    case subscriptions
    /// Changes of products and of the names of groups.
    case products
    /// Redrives and discards.
    case deadLetters = "dead-letters"

    /// The service whose log has them; `nil` for dead letters, which are in a table.
    var log: OperatedService? {
        switch self {
        case .buyers, .refunds, .approvals, .subscriptions: .payments
        case .products: .catalog
        case .deadLetters: nil
        }
    }

    /// The types of the events that record them.
    var eventTypes: [EventType] {
        switch self {
        case .buyers:
            Self.refunds.eventTypes + Self.approvals.eventTypes + Self.subscriptions.eventTypes
        case .refunds:
            [.transactionRefunded, .transactionRefundReversed, .refundRequestChanged]
        case .approvals: [.transactionApproved, .transactionFailed]
        case .subscriptions: [.subscriptionChanged, .massExtensionChanged]
        case .products: [.productChanged, .subscriptionGroupChanged]
        case .deadLetters: []
        }
    }
}
