import EventTypes
import StoreAPI
import Subscriptions

/// Everything that the books of the services say about one subscription.
struct SubscriptionRecords: Sendable {
    /// An attempt of the processor for one of its transactions, and what the processor's list says.
    struct Attempt: Hashable, Sendable {
        var isRefund = false
        var isSettled = true
        /// Whether a refund follows from a change of the subscription.
        var isOwed = false
        var amount: Money
        /// The charge on the processor's list; `nil` if there is none.
        var charged: Money?
        /// The part of that charge that was returned.
        var returned: Money?
    }

    /// One of its transactions: a purchase, or a try to renew.
    struct Payment: Sendable {
        let id: TransactionID
        let state: TransactionState
        let requestedAt: StoreTime
        let refunds: [Refund]
        /// The identity of the charge of a renewal.
        let charge: RenewalChargeKey?
        /// Whether the account's introductory offer in the group begins with it.
        var beginsIntroductoryOffer = false
        var attempts: [Attempt] = []

        /// Whether a refund that stands has taken the period away.
        var isRevoked: Bool { refunds.contains { $0.revokes && $0.reversedAt == nil } }
    }

    /// A copy of the subscription in another service.
    struct View: Sendable {
        /// `nil` if it cannot be read.
        let subscription: Subscription?
        /// The end of the service; `nil` if it has ended, or the service does not keep it.
        var entitlementEnd: StoreTime?
    }

    /// A transaction of a period as `receipts` has signed it.
    struct SignedPeriod: Hashable, Sendable {
        var isUpgraded: Bool
        /// Whether a refund has taken the period away.
        var isRevoked = false
        /// The end; `nil` if it cannot be read.
        var end: StoreTime?
        /// The price in thousandths of the currency unit; `nil` if it cannot be read.
        var price: Int64?
    }

    /// The subscription in `payments`.
    let subscription: Subscription
    /// Whether its row is that of its account and group.
    let isInItsPlace: Bool
    /// Its due action.
    let action: DueAction?
    /// The transaction that the store has noted for the account's introductory offer in the group.
    var introducedBy: TransactionID?
    /// Its events, oldest first.
    var events: [SubscriptionChanged] = []
    var payments: [Payment] = []
    /// The copies in other services.
    var views: [ServiceName: View] = [:]
    /// The notifications in `receipts`; `nil` if they are not compared.
    var notifications: Notifications?
    /// The transactions of periods that `receipts` has signed.
    var signed: [TransactionID: SignedPeriod] = [:]

    /// The time of its last change, or of the last charge that is open.
    var changedAt: StoreTime? {
        let open = payments.filter { $0.attempts.contains { !$0.isSettled } }
        return (events.map(\.changedAt) + open.map(\.requestedAt)).max()
    }

    /// The history that the audit checks.
    var history: SubscriptionHistory {
        let refunds = payments.flatMap(Self.refunds)
        let owed = payments.flatMap { payment in
            payment.attempts.filter(\.isOwed).map {
                SubscriptionHistory.Refund(transactionID: payment.id, amount: $0.amount)
            }
        }
        var history = SubscriptionHistory(
            subscription: subscription,
            changes: SubscriptionHistory.changes(events, owed: owed, of: refunds),
            captures: payments.flatMap(Self.captures),
            refunds: refunds,
            sent: sent,
            actions: [action].compactMap(\.self),
            openCharges: payments.filter {
                $0.attempts.contains { !$0.isRefund && !$0.isSettled }
            }.compactMap(\.charge),
            entitlementEnd: entitlementEnd
        )
        history.introductions = payments.filter {
            $0.beginsIntroductoryOffer && $0.state != .failed
        }.map(\.id)
        history.introducedBy = introducedBy
        return history
    }

    /// The end of the service that the account is shown.
    private var entitlementEnd: StoreTime? {
        guard let view = views[.fulfillment],
            view.subscription?.version == subscription.version
        else { return subscription.entitlementEnd }
        return view.entitlementEnd
    }

    private static func captures(_ payment: Payment) -> [SubscriptionHistory.Capture] {
        payment.attempts.compactMap { attempt in
            guard let charged = attempt.charged else { return nil }
            return SubscriptionHistory.Capture(
                transactionID: payment.id,
                amount: charged,
                // What a purchase gave back was paid for all the same.
                isReturned: payment.state != .purchased && attempt.returned == charged
            )
        }
    }

    private static func refunds(_ payment: Payment) -> [SubscriptionHistory.Refund] {
        guard payment.state == .purchased else { return [] }
        return payment.refunds.map {
            SubscriptionHistory.Refund(
                transactionID: payment.id,
                amount: $0.amount,
                isReversed: $0.reversedAt != nil
            )
        }
            + payment.attempts.filter { $0.isRefund && !$0.isSettled }.map {
                SubscriptionHistory.Refund(transactionID: payment.id, amount: $0.amount)
            }
    }
}

extension SubscriptionRecords {
    /// The differences between the books of the subscription.
    ///
    /// - Parameters:
    ///   - audit: Checks the invariants.
    ///   - time: The store's time.
    /// - Returns: The differences, each with the subscription.
    func differences(by audit: SubscriptionAudit, at time: StoreTime) -> [Difference] {
        let found = audit.findings(in: history, at: time).map(difference(of:))
        return found + viewDifferences + signedDifferences
            + (isInItsPlace
                ? [] : [difference(.subscriptionDiffers, "its row is that of another account")])
    }

    private var viewDifferences: [Difference] {
        [ServiceName.fulfillment, .receipts].compactMap { name in
            let known = views[name]?.subscription
            // A newer version came after this one was read.
            if let known, known.version > subscription.version { return nil }
            guard let known, known.version == subscription.version else {
                let version = known.map { "version \($0.version)" } ?? "no version"
                return difference(
                    .subscriptionNotTold,
                    "\(name) has \(version) of \(subscription.version)"
                )
            }
            guard let event = events.last, known != event.subscription else { return nil }
            return difference(.subscriptionNotTold, "\(name) has another version \(known.version)")
        }
    }

    /// The newest periods whose signed transactions say something else about an upgrade, a refund, the
    /// end or the price.
    var signedDifferences: [Difference] {
        guard views[.receipts]?.subscription?.version == subscription.version else { return [] }
        return [subscription.earlierPeriod, subscription.period].compactMap(\.self)
            .flatMap { period -> [Difference] in
                guard let made = signed[period.transactionID] else { return [] }
                var problems: [String] = []
                let paid = payments.first { $0.id == period.transactionID }
                if let paid, made.isRevoked != paid.isRevoked {
                    problems.append(made.isRevoked ? "as revoked" : "as not revoked")
                }
                if made.price != period.price.milliunits {
                    let price = made.price.map { "\($0)" } ?? "no price"
                    problems.append("for \(price) instead of \(period.price.milliunits)")
                }
                if made.isUpgraded != period.isUpgraded {
                    problems.append(made.isUpgraded ? "as upgraded" : "as not upgraded")
                }
                if made.end != period.end {
                    let end = made.end.map { "\($0)" } ?? "no date"
                    problems.append("until \(end) instead of \(period.end)")
                }
                return problems.map {
                    difference(
                        .subscriptionNotTold,
                        "receipts has signed \(period.transactionID) \($0)"
                    )
                }
            }
    }

    /// The difference that a finding about the subscription is, with the refund that it names.
    func difference(of finding: AuditFinding) -> Difference {
        var found = difference(Difference.Kind(finding.invariant), finding.problem)
        found.refund = finding.refund.map {
            Reconciliation.Difference.PeriodRefund(
                transactionID: $0.transactionID,
                refunded: $0.refunded,
                due: $0.due
            )
        }
        return found
    }

    private func difference(_ kind: Difference.Kind, _ detail: String) -> Difference {
        Difference(kind: kind, transactionID: subscription.id, detail: detail)
    }
}

extension Difference.Kind {
    /// The kind of a finding about a subscription.
    init(_ invariant: SubscriptionInvariant) {
        self =
            switch invariant {
            case .noOverlap: .periodsOverlap
            case .noUnexplainedGap: .periodGap
            case .oneChargeAPeriod: .periodChargeDiffers
            case .refundsAreRight: .periodRefundDiffers
            // That an account has one subscription in a group, the table's key ensures.
            case .stateFollowsFromChanges, .offersAreUsedOnce, .notifiedOnce, .familyFollows,
                .oneRunning, .extensionsAreLimited:
                .subscriptionDiffers
            case .endsAreCounted: .periodEndDiffers
            case .oneDueAction: .dueActionDiffers
            case .viewsAgree: .subscriptionNotTold
            case .noPriceAboveAnnounced: .priceAboveAnnounced
            case .limitsAreKept: .unpaidTooLong
            }
    }
}
