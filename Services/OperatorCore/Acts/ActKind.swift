import EventTypes

/// The kinds of acts that can be listed.
package enum ActKind: String, CaseIterable, Sendable {
    /// About buyers: refunds, approvals, subscriptions, families and accounts.
    case buyers
    /// Refunds and their reversals.
    case refunds
    /// Approvals and declines.
    case approvals
    /// Changes of subscriptions.
    case subscriptions
    /// Families that were made, changed or ended.
    case families
    /// Changes of whether accounts may pay, and in which storefront.
    case accounts
    /// Changes of products and of the names of groups.
    case products
    /// Campaigns of offer codes that were made or deactivated.
    case codes
    /// Redrives and discards.
    case deadLetters = "dead-letters"
    /// Replays, proofs and raises of the console, which are in its folder; no database has them.
    case jobs

    /// The service whose log has them; `nil` for those that no log has.
    var log: OperatedService? {
        switch self {
        case .buyers, .refunds, .approvals, .subscriptions, .families, .accounts: .payments
        case .products: .catalog
        case .codes, .deadLetters, .jobs: nil
        }
    }

    /// The types of the events that record them.
    var eventTypes: [EventType] {
        switch self {
        case .buyers:
            Self.refunds.eventTypes + Self.approvals.eventTypes + Self.subscriptions.eventTypes
                + Self.families.eventTypes + Self.accounts.eventTypes
        case .refunds:
            [.transactionRefunded, .transactionRefundReversed, .refundRequestChanged]
        case .approvals: [.transactionApproved, .transactionFailed]
        case .subscriptions: [.subscriptionChanged, .massExtensionChanged]
        case .families: [.familyChanged]
        case .accounts: [.accountChanged]
        case .products: [.productChanged, .subscriptionGroupChanged]
        case .codes, .deadLetters, .jobs: []
        }
    }
}
