import EventTypes

/// The rules that decide who owns a non-consumable and which of several purchases is charged (trap
/// 22).
///
/// Pure. Of two purchases one is charged: the first holds the ownership until its outcome is known,
/// and the second waits for it. The transaction that is purchased first owns the product until it
/// is refunded.
enum OwnershipRules {
    /// The verdict on a purchase of a non-consumable.
    enum Verdict: Hashable, Sendable {
        /// The purchase goes ahead: it is charged, or costs nothing.
        case proceed
        /// The account owns the product already; the purchase is granted without a charge.
        case grant(originalID: TransactionID, originalPurchasedAt: StoreTime)
        /// Another purchase of the product is being charged, and its outcome decides.
        case wait(for: TransactionID)
        /// The account may no longer be charged.
        case fail(FailureReason)
    }

    /// A purchase that waits for the outcome of another.
    struct Waiter: Hashable, Sendable {
        let id: TransactionID
        /// The reason why its account may no longer be charged; `nil` if it may be.
        var failure: FailureReason?
    }

    /// Judges a purchase by the present ownership.
    ///
    /// - Parameters:
    ///   - id: The purchase.
    ///   - isFree: Whether it costs nothing; a free purchase never waits.
    ///   - ownership: The present ownership of the product; `nil` if there is none.
    /// - Returns: Never `.fail`.
    static func verdict(
        on id: TransactionID,
        isFree: Bool = false,
        meeting ownership: Ownership?
    ) -> Verdict {
        guard let ownership, ownership.holder != id else { return .proceed }
        if let ownedAt = ownership.ownedAt {
            return .grant(originalID: ownership.holder, originalPurchasedAt: ownedAt)
        }
        return isFree ? .proceed : .wait(for: ownership.holder)
    }

    /// Judges purchases that waited for another, once its outcome is known.
    ///
    /// If the product is owned by now, all of them are granted without a charge. Otherwise the
    /// first that may still be charged goes ahead, and the others wait for it.
    ///
    /// - Parameters:
    ///   - waiters: The purchases, oldest first.
    ///   - ownership: The present ownership of the product; `nil` if there is none.
    /// - Returns: A verdict for each.
    static func verdicts(on waiters: [Waiter], meeting ownership: Ownership?) -> [Verdict] {
        var ownership = ownership
        return waiters.map { waiter in
            if ownership?.ownedAt == nil, let failure = waiter.failure { return .fail(failure) }
            let verdict = verdict(on: waiter.id, meeting: ownership)
            if verdict == .proceed { ownership = Ownership(holder: waiter.id, ownedAt: nil) }
            return verdict
        }
    }

    /// The change of an ownership that follows from a transaction's new state.
    ///
    /// A purchased transaction takes the ownership. One that failed, waits for approval or was taken
    /// away by a refund gives it up. One whose refund was reversed takes it again, unless another
    /// purchase owns the product by then: that one stays the owner.
    ///
    /// - Parameters:
    ///   - before: The transaction before its change; `nil` if it is new.
    ///   - record: The transaction after its change.
    ///   - time: The time of the change.
    /// - Returns: `nil` if the product cannot be owned, if the transaction is a copy of the purchase
    ///   that owns it, or if the buyer has the product as before, such as after the refund of a part.
    static func change(
        from before: TransactionRecord?,
        to record: TransactionRecord,
        at time: StoreTime
    ) -> OwnershipChange? {
        guard record.isOwnable else { return nil }
        let transaction = record.transaction
        if let before, before.transaction.state == transaction.state,
            before.transaction.revokedAt == transaction.revokedAt
        {
            return nil
        }
        var change = OwnershipChange(key: record.ownershipKey, holder: transaction.id)
        if transaction.state == .purchased, transaction.revokedAt == nil {
            guard !transaction.reason.isCopy else { return nil }
            change.ownedAt = transaction.purchasedAt ?? time
        }
        return change
    }

    /// Applies a change to an ownership, as ``OwnershipStore`` does in the table.
    ///
    /// A purchased transaction becomes the owner unless the product has one already. It replaces a
    /// holder that is only being charged. A transaction that gives up an ownership it does not hold
    /// changes nothing.
    static func apply(_ change: OwnershipChange, to ownership: Ownership?) -> Ownership? {
        guard let ownedAt = change.ownedAt else {
            return ownership?.holder == change.holder ? nil : ownership
        }
        guard ownership?.ownedAt == nil else { return ownership }
        return Ownership(holder: change.holder, ownedAt: ownedAt)
    }
}
