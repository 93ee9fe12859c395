import EventTypes
import StoreAPI

/// Books what the processor says of disputes.
extension SettlementPlan {
    /// Applies a dispute as it is now.
    ///
    /// The transaction itself says what was booked before, so a dispute may be looked at any number of
    /// times. One that was won before anybody looked is booked and reversed at once: its end is the
    /// same as if both had been seen.
    ///
    /// - Parameter dispute: The dispute of a locked transaction.
    /// - Returns: Whether it is dealt with; if not, its charge is not settled yet.
    mutating func apply(_ dispute: ProcessorDispute) -> Bool {
        let id = dispute.charge.transactionID
        guard dispute.stage > .noMoneyMoved, let transaction = records[id]?.transaction else {
            return true
        }
        guard transaction.state != .purchasing, transaction.state != .deferred else { return false }
        if let refund = strayRefund(of: id) {
            settle(refund, by: dispute)
            return true
        }
        var booked = transaction.refunds?.first { $0.dispute == dispute.id }
        if booked == nil {
            book(dispute, of: transaction)
            booked = records[id]?.transaction.refunds?.first { $0.dispute == dispute.id }
        }
        guard dispute.stage == .reinstated, let booked, booked.reversedAt == nil else {
            return true
        }
        apply(.reverseRefund(number: booked.number), to: id)
        settle(.reversal, booked.number, booked.amount, .reversed, by: dispute)
        return true
    }

    /// The refund by which the stray charge of a transaction is returned; `nil` if it has none.
    private func strayRefund(of id: TransactionID) -> ProcessorAttempt? {
        attempts[AttemptKey(transactionID: id, kind: .refund)]
            .flatMap { returnsStrayCharge($0) ? $0 : nil }
    }

    /// Ends the return of a stray charge that a bank has taken back itself.
    ///
    /// The processor refunds no charge that is disputed, so trying on would have no end. If the store
    /// then wins, it has money that it owes, and nobody but a person can return it.
    private mutating func settle(_ refund: ProcessorAttempt, by dispute: ProcessorDispute) {
        let id = refund.transactionID
        let reference = ProcessorReference(rawValue: dispute.id)
        if refund.step != .settled {
            if dispute.amount != refund.amount {
                contradict(
                    "A bank has taken back \(dispute.amount) of a stray charge of \(refund.amount)",
                    id
                )
            }
            applyRefund(refund, reference)
        } else if refund.reference != reference {
            contradict("A bank has taken back a stray charge that was returned before", id)
        }
        if dispute.stage == .reinstated, attempts[refund.key]?.reference == reference {
            contradict("A stray charge was disputed and won; return it at the processor", id)
        }
    }

    private mutating func book(_ dispute: ProcessorDispute, of transaction: Transaction) {
        let id = transaction.id
        guard transaction.state == .purchased,
            dispute.amount.currency == transaction.price.currency
        else {
            return contradict("A bank has taken back what the books do not show as paid", id)
        }
        let rest = transaction.refundableAmount.minorUnits
        let amount = Money(
            minorUnits: min(dispute.amount.minorUnits, rest),
            currency: transaction.price.currency
        )
        if amount != dispute.amount {
            contradict(
                "A bank has taken back \(dispute.amount), and only \(amount) was not refunded yet",
                id
            )
        }
        guard amount.minorUnits > 0 else { return endRefundsMadeAgain(by: dispute) }
        let all = attempts.values.filter { $0.transactionID == id }
        let number = transaction.nextRefundNumber(with: all)
        let move = apply(
            .chargeBack(number: number, amount: amount, dispute: dispute.id),
            to: id
        )
        guard case .refused(let refusal) = move else {
            return settle(.refund, number, amount, .refunded, by: dispute)
        }
        contradict("A bank has taken back what the transaction does not take", id, refusal)
    }

    /// Ends refunds that were to be made once more, and that a bank has given back itself.
    ///
    /// They are booked as given back already. The processor refunds no charge that is disputed, so
    /// trying on would have no end.
    private mutating func endRefundsMadeAgain(by dispute: ProcessorDispute) {
        guard dispute.stage == .withdrawn else { return }
        let id = dispute.charge.transactionID
        for attempt in attempts.values
        where attempt.transactionID == id && attempt.kind == .refund && attempt.isMadeAgain {
            applyRefund(attempt, ProcessorReference(rawValue: dispute.id))
        }
    }

    /// Adds the attempt of money that has moved without a call of the store's.
    private mutating func settle(
        _ kind: AttemptKind,
        _ number: Int,
        _ amount: Money,
        _ end: AttemptEnd,
        by dispute: ProcessorDispute
    ) {
        let id = dispute.charge.transactionID
        let charge = attempts[AttemptKey(transactionID: id, kind: .charge)]
        var attempt = ProcessorAttempt(
            transactionID: id,
            kind: kind,
            number: number,
            id: ids.attempt(at: time),
            step: .settled,
            paymentMethod: charge?.paymentMethod ?? "",
            amount: amount,
            undoes: charge?.reference,
            revokes: kind == .refund
        )
        attempt.settle(end, reference: ProcessorReference(rawValue: dispute.id))
        addSettled(attempt)
    }
}
