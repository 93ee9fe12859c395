import EventTypes

/// The rules for buyers' requests for refunds, and for the decisions about them.
///
/// Pure. A request moves no money. Its approval is judged by ``RefundRules`` as every other refund is,
/// so both together never give back more than was paid.
enum RefundRequestRules {
    /// The most requests for one purchase.
    static let countMax = 10

    /// The verdict on a buyer's request.
    enum Asking: Hashable, Sendable {
        case refused(RefundRequestRefusal)
        /// The buyer asked before under this key.
        case repeated(RequestedRefund)
        case accepted(RequestedRefund)
    }

    /// The verdict on a decision.
    enum Deciding: Hashable, Sendable {
        case refused(RefundRequestRefusal)
        /// It was decided so before.
        case repeated
        case declined(RequestedRefund)
        /// The refund is new. It is `nil` if nothing is left to refund, or if another one that is
        /// under way gives the rest back.
        case approved(RequestedRefund, RefundPlan?)
    }

    /// Judges a buyer's request.
    ///
    /// - Parameters:
    ///   - reason: The buyer's reason.
    ///   - key: The key of the request.
    ///   - transaction: The purchase.
    ///   - attempts: All its attempts.
    ///   - earlier: All earlier requests for it.
    ///   - time: The present.
    /// - Returns: The request to store, or why there is none.
    static func asking(
        because reason: RefundReason,
        under key: IdempotencyKey,
        for transaction: Transaction,
        with attempts: [ProcessorAttempt],
        after earlier: [RefundRequestRecord],
        at time: StoreTime
    ) -> Asking {
        if let first = earlier.first(where: { $0.key == key }) {
            return first.request.reason == reason
                ? .repeated(first.request) : .refused(.keyReused)
        }
        guard transaction.state == .purchased else {
            return .refused(.transaction(.notPurchased))
        }
        guard !transaction.reason.isCopy else { return .refused(.transaction(.isCopy)) }
        guard transaction.reason != .familyShared else {
            return .refused(.transaction(.isShared))
        }
        guard transaction.refundRest(with: attempts) > 0 else {
            return .refused(.nothingToRefund)
        }
        guard !earlier.contains(where: { $0.request.state == .open }) else {
            return .refused(.alreadyOpen)
        }
        let number = earlier.map(\.request.number).reduce(0, max) + 1
        guard number <= countMax else { return .refused(.tooMany(max: countMax)) }
        return .accepted(
            RequestedRefund(number: number, of: transaction, because: reason, at: time)
        )
    }

    /// Judges a decision.
    ///
    /// - Parameters:
    ///   - decision: The decision.
    ///   - record: The request.
    ///   - transaction: The purchase.
    ///   - attempts: All its attempts.
    ///   - act: Who decides, and why.
    ///   - leavesConsumables: Whether a consumable stays with its buyer unless the decision says
    ///     otherwise.
    ///   - time: The present.
    /// - Returns: The request and the refund to write, or why there is nothing to write.
    static func deciding(
        _ decision: RefundDecision,
        on record: RefundRequestRecord,
        of transaction: Transaction,
        with attempts: [ProcessorAttempt],
        by act: Act,
        leavingConsumables leavesConsumables: Bool = false,
        at time: StoreTime
    ) -> Deciding {
        switch decision {
        case .decline:
            return declining(record.request, transaction, attempts, by: act, at: time)
        case .approve(let amount, let revokes):
            let terms = RefundTerms(
                amount: amount,
                revokes: revokes,
                act: act,
                leavesConsumables: leavesConsumables
            )
            return approving(record.request, terms, transaction, attempts, at: time)
        }
    }

    private static func declining(
        _ request: RequestedRefund,
        _ transaction: Transaction,
        _ attempts: [ProcessorAttempt],
        by act: Act,
        at time: StoreTime
    ) -> Deciding {
        guard act.reason != nil else { return .refused(.reasonMissing) }
        switch request.state {
        case .declined: return .repeated
        case .open: break
        case .approved, .unknown: return .refused(.decidedOtherwise)
        }
        guard transaction.refundRest(with: attempts) > 0 else {
            return .refused(.alreadyRefunded)
        }
        return .declined(request.decided(.declined, at: time))
    }

    /// Approves an open request, or one whose refund the processor could not make.
    private static func approving(
        _ request: RequestedRefund,
        _ terms: RefundTerms,
        _ transaction: Transaction,
        _ attempts: [ProcessorAttempt],
        at time: StoreTime
    ) -> Deciding {
        switch request.state {
        case .open: break
        case .approved:
            let made = attempts.first { $0.kind == .refund && $0.number == request.refundNumber }
            guard let made, made.hasFailed else {
                return isSame(terms, as: made, of: transaction, attempts)
                    ? .repeated : .refused(.decidedOtherwise)
            }
            // Somebody gave money back since. The part may have been that, so nobody guesses.
            let isRefundedSince = attempts.contains {
                $0.kind == .refund && $0.number > made.number && !$0.hasFailed
            }
            guard terms.amount == nil || !isRefundedSince else {
                return .refused(.decidedOtherwise)
            }
        case .declined, .unknown: return .refused(.decidedOtherwise)
        }
        var approved = request.decided(.approved, at: time)
        let verdict = RefundRules.verdict(
            on: terms,
            after: nil,
            for: transaction,
            with: attempts
        )
        switch verdict {
        case .refused(let refusal): return .refused(.transaction(refusal))
        case .done: return .approved(approved, nil)
        case .pending(let key):
            approved.refundNumber = key.number
            return .approved(approved, nil)
        case .accepted(let refund):
            approved.refundNumber = refund.number
            return .approved(approved, refund)
        }
    }

    /// Whether an approval repeats the one that was carried out with a refund; `nil` if none was
    /// needed.
    private static func isSame(
        _ terms: RefundTerms,
        as made: ProcessorAttempt?,
        of transaction: Transaction,
        _ attempts: [ProcessorAttempt]
    ) -> Bool {
        if let revokes = terms.revokes, let made, revokes != made.revokes { return false }
        if let amount = terms.amount { return amount == made?.amount }
        // An approval of the rest left nothing. Reversed refunds count: their money was given back.
        let given = attempts.filter { $0.kind == .refund && !$0.hasFailed }
        return given.reduce(Int64(0)) { $0 + $1.amount.minorUnits } >= transaction.price.minorUnits
    }
}

extension RequestedRefund {
    /// The request after a decision.
    fileprivate func decided(_ state: State, at time: StoreTime) -> RequestedRefund {
        var decided = self
        decided.state = state
        decided.decidedAt = time
        decided.refundNumber = nil
        return decided
    }
}
