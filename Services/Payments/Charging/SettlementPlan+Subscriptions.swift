import EventTypes
import Subscriptions

/// Applies what happens to the transactions of subscriptions to the subscriptions.
extension SettlementPlan {
    /// The command of a charge that the processor has confirmed.
    ///
    /// The subscription has to take the charge first. If it does not, as when the account began it
    /// with another purchase at the same time, the transaction fails and the charge is stray (rule
    /// S505).
    mutating func command(ofChargeBy attempt: ProcessorAttempt) -> TransactionCommand {
        guard let record = records[attempt.transactionID], record.transaction.subscription != nil,
            record.transaction.state == .purchasing || record.transaction.state == .deferred
        else { return .confirmCharge }
        if let period = subscriptions.begin(record, paidBy: attempt.paymentMethod) {
            return .beginPeriod(period)
        }
        apply(.fail(.subscriptionChanged), to: attempt.transactionID)
        return .confirmCharge
    }

    /// Applies a change of a transaction to its subscription.
    ///
    /// A refund that the subscription itself has caused is booked already.
    mutating func tellSubscription(
        _ command: TransactionCommand,
        from before: TransactionRecord,
        to after: TransactionRecord,
        by act: Act?
    ) {
        let id = after.transaction.id
        guard let key = SubscriptionKey(of: after.transaction) else { return }
        func isOwed(_ number: Int) -> Bool {
            attempts[AttemptKey(transactionID: id, kind: .refund, number: number)]?.isOwed ?? false
        }
        // A declined approval, and one that has expired, fail the transaction too.
        if after.transaction.state == .failed {
            subscriptions.giveIntroductionBack(by: after.transaction)
            if after.transaction.subscription?.offerOfCode != nil { failedRedemptions.append(id) }
        }
        let event: SubscriptionEvent
        switch command {
        case .fail(let reason):
            guard let charge = after.transaction.subscription?.charge else { return }
            event = .chargeFailed(charge, reason == .buyerMustAct ? .buyerMustAct : .billing)
        case .refund(let number, let amount, let revokes) where !isOwed(number):
            event = .refunded(id, amount, revokes: revokes)
        case .chargeBack(_, let amount, _):
            event = .refunded(id, amount, revokes: true)
        case .reverseRefund(let number) where !isOwed(number):
            let refund = after.transaction.refunds?.first { $0.number == number }
            event = .refundReversed(
                id,
                refund?.amount ?? .zero(after.transaction.price.currency),
                restores: before.transaction.revokedAt != nil && after.transaction.revokedAt == nil
            )
        default: return
        }
        subscriptions.apply(event, to: key, within: after.traceparent, by: act)
    }

    /// Plans the refunds that changes of subscriptions have booked (rules S101, S107 and S131).
    ///
    /// What was refunded otherwise meanwhile is not refunded again.
    ///
    /// - Parameter refunds: The refunds, whose transactions are locked.
    mutating func addRefunds(_ refunds: [SubscriptionPlan.OwedRefund]) {
        for owed in refunds {
            let id = owed.transactionID
            let charge = attempts[AttemptKey(transactionID: id, kind: .charge)]
            guard let record = records[id], let charge else { continue }
            let all = attempts.values.filter { $0.transactionID == id }
            let rest = record.transaction.refundRest(with: all)
            let amount = min(owed.amount.minorUnits, rest)
            guard amount > 0 else { continue }
            let terms = RefundPlan(
                number: record.transaction.nextRefundNumber(with: all),
                amount: Money(minorUnits: amount, currency: owed.amount.currency),
                revokes: owed.revokes
            )
            refund(
                id,
                terms,
                by: charge.paymentMethod,
                of: charge.reference,
                isOwed: true
            )
        }
    }
}
