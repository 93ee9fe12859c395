import EventTypes

/// Who owns a non-consumable, and which of several purchases of it is charged (trap 22).
///
/// Pure. Of two purchases one is charged: the first holds the ownership until its outcome is known,
/// and the second waits for it. Whoever is purchased first owns, until a refund.
enum OwnershipRules {
    /// What a purchase of a non-consumable comes to when it meets the ownership.
    enum Verdict: Hashable, Sendable {
        /// The purchase goes ahead: it is charged, or costs nothing.
        case proceed
        /// The account owns the product; it is granted again without a charge.
        case grant(originalID: TransactionID, originalPurchasedAt: Timestamp)
        /// Another purchase is being charged, and its outcome decides.
        case wait(for: TransactionID)
        /// The account may not be charged any more.
        case fail(FailureReason)
    }

    /// A purchase that waits for the outcome of another.
    struct Waiter: Hashable, Sendable {
        let id: TransactionID
        /// Why its account is not charged any more; `nil` if it may be.
        var failure: FailureReason?
    }

    /// Judges a purchase by who holds the ownership.
    ///
    /// - Parameters:
    ///   - id: The purchase.
    ///   - isFree: Whether it costs nothing; then it waits for nobody.
    ///   - ownership: Who owns the product or is being charged for it; `nil` if nobody.
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

    /// Judges purchases that waited for another whose outcome is known.
    ///
    /// If somebody owns the product by now, all of them are granted without a charge. Otherwise the
    /// first that may still be charged goes ahead, and the others wait for that one.
    ///
    /// - Parameters:
    ///   - waiters: The purchases, oldest first.
    ///   - ownership: Who owns the product or is being charged for it by now; `nil` if nobody.
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
    /// A purchase owns. One that failed, was refunded or waits for approval gives up what it holds.
    ///
    /// - Returns: `nil` for what cannot be owned, and for what was granted without a charge: the
    ///   original owns that.
    static func change(by record: TransactionRecord, at time: Timestamp) -> OwnershipChange? {
        guard record.isOwnable else { return nil }
        let transaction = record.transaction
        var change = OwnershipChange(key: record.ownershipKey, holder: transaction.id)
        if transaction.state == .purchased, transaction.revokedAt == nil {
            guard transaction.originalID == transaction.id else { return nil }
            change.ownedAt = time
        }
        return change
    }

    /// Applies a change to an ownership, as ``OwnershipStore`` does in the table.
    ///
    /// Who is purchased owns unless another does: it takes over from one that is only being charged.
    /// Who gives up takes nothing from another.
    static func apply(_ change: OwnershipChange, to ownership: Ownership?) -> Ownership? {
        guard let ownedAt = change.ownedAt else {
            return ownership?.holder == change.holder ? nil : ownership
        }
        guard ownership?.ownedAt == nil else { return ownership }
        return Ownership(holder: change.holder, ownedAt: ownedAt)
    }
}
