import EventTypes

/// The rules for refunds of a purchase and for their reversals.
///
/// Pure. Refunds that were accepted and are not confirmed yet count as refunded, so requests at the
/// same time never give back more than was paid.
enum RefundRules {
    /// The most refunds of one transaction, reversed ones included.
    ///
    /// All of them are in each event of the transaction.
    static let countMax = 50

    /// The verdict on a request.
    enum Verdict<Accepted: Hashable & Sendable>: Hashable, Sendable {
        case refused(TransactionRefusal)
        /// The request has taken effect before.
        case done
        /// The request was accepted before, and this attempt is still to be carried out.
        case pending(AttemptKey)
        case accepted(Accepted)
    }

    /// Judges a request for a refund.
    ///
    /// - Parameters:
    ///   - terms: What is asked for.
    ///   - earlier: The request under the same key that made no attempt; `nil` if there was none.
    ///   - transaction: The transaction.
    ///   - attempts: All its attempts.
    /// - Returns: The refund to carry out, or the reason why there is none.
    static func verdict(
        on terms: RefundTerms,
        after earlier: EarlierRefundRequest?,
        for transaction: Transaction,
        with attempts: [ProcessorAttempt]
    ) -> Verdict<RefundPlan> {
        let refunds = attempts.filter { $0.kind == .refund }
        if let key = terms.key,
            let first = refunds.first(where: {
                $0.requestKey?.idempotencyKey == key.idempotencyKey
            })
        {
            guard first.requestKey == key else { return .refused(.refundKeyReused) }
            if first.hasFailed { return .refused(.refundFailed(number: first.number)) }
            return first.step == .settled ? .done : .pending(first.key)
        }
        if let earlier {
            guard earlier.key == terms.key else { return .refused(.refundKeyReused) }
            guard let joined = refunds.first(where: { $0.number == earlier.pending }) else {
                return .done
            }
            if joined.hasFailed { return .refused(.refundFailed(number: joined.number)) }
            return joined.step.isOpenAtProcessor ? .pending(joined.key) : .done
        }
        guard transaction.state == .purchased else { return .refused(.notPurchased) }
        guard !transaction.reason.isCopy else { return .refused(.isCopy) }
        guard transaction.reason != .familyShared else { return .refused(.isShared) }
        let open = refunds.filter(\.step.isOpenAtProcessor)
        let rest = transaction.refundRest(with: refunds)
        if let amount = terms.amount {
            if let refusal = refusal(of: amount, of: transaction.price, rest: rest) {
                return .refused(refusal)
            }
        } else if isSpent(transaction, rest: rest) {
            // Nothing is left: the rest was refunded before.
            let isRevoked = transaction.revokedAt != nil || open.contains { $0.revokes }
            guard terms.revokes != true || isRevoked else { return .refused(.nothingToRefund) }
            let last = open.max { $0.number < $1.number }
            return last.map { .pending($0.key) } ?? .done
        }
        let number = transaction.nextRefundNumber(with: refunds)
        guard number <= countMax else { return .refused(.tooManyRefunds(max: countMax)) }
        let amount = terms.amount?.minorUnits ?? rest
        let leaves = terms.leavesConsumables && transaction.productType == .consumable && rest > 0
        let plan = RefundPlan(
            number: number,
            amount: Money(minorUnits: amount, currency: transaction.price.currency),
            revokes: terms.revokes ?? (amount == rest && !leaves),
            key: terms.key,
            act: terms.act
        )
        // A refund of nothing has to take the product away, or it would do nothing.
        guard plan.revokes || !plan.amount.isZero else { return .refused(.nothingToRefund) }
        return .accepted(plan)
    }

    /// Judges a request to reverse a refund.
    ///
    /// - Returns: The refund to reverse, or the reason why there is none.
    static func verdict(
        onReversing number: Int,
        of transaction: Transaction,
        with attempts: [ProcessorAttempt]
    ) -> Verdict<Refund> {
        guard transaction.state == .purchased else { return .refused(.notPurchased) }
        guard !transaction.reason.isCopy else { return .refused(.isCopy) }
        guard transaction.reason != .familyShared else { return .refused(.isShared) }
        guard let refund = transaction.refunds?.first(where: { $0.number == number }) else {
            let isPending = attempts.contains {
                $0.kind == .refund && $0.number == number && !$0.hasFailed
            }
            return .refused(
                isPending ? .refundNotSettled(number: number) : .refundUnknown(number: number)
            )
        }
        guard refund.reversedAt == nil else { return .done }
        guard refund.dispute == nil else { return .refused(.refundIsDisputed(number: number)) }
        let begun = attempts.first { $0.kind == .reversal && $0.number == number }
        guard begun?.step != .failed else { return .refused(.reversalFailed(number: number)) }
        return begun.map { .pending($0.key) } ?? .accepted(refund)
    }

    private static func refusal(
        of amount: Money,
        of price: Money,
        rest: Int64
    ) -> TransactionRefusal? {
        guard amount.currency == price.currency else { return .refundInOtherCurrency }
        guard amount.minorUnits > 0 else { return .refundNotPositive }
        guard amount.minorUnits <= rest else {
            return .refundTooLarge(rest: Money(minorUnits: rest, currency: price.currency))
        }
        return nil
    }

    /// Whether nothing is left to refund.
    ///
    /// What cost nothing is refunded by taking it away.
    private static func isSpent(_ transaction: Transaction, rest: Int64) -> Bool {
        transaction.price.isZero ? transaction.revokedAt != nil : rest == 0
    }
}
