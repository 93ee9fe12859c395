import EventTypes

/// The rules of what a member gets of another one's purchase.
///
/// Pure.
enum FamilyShareRules {
    /// The transaction with which a member gets a purchase.
    ///
    /// It is a purchase of its own that costs nothing: it begins a chain of its own, is delivered and
    /// finished like any other, and says whose purchase it shares. Credits are not shared, because the
    /// buyer got them.
    static func share(
        of purchase: TransactionRecord,
        with member: AccountID,
        as id: TransactionID,
        at time: StoreTime
    ) -> TransactionRecord {
        var transaction = purchase.transaction
        transaction.id = id
        transaction.originalID = id
        transaction.reason = .familyShared
        transaction.version = 1
        transaction.accountID = member
        transaction.price = .zero(transaction.price.currency)
        transaction.applicationUsername = nil
        transaction.deliveryPlan.removeAll { if case .credit = $0 { true } else { false } }
        transaction.requestedAt = time
        transaction.purchasedAt = time
        transaction.originalPurchasedAt = time
        transaction.refunds = nil
        // A refund at this very moment notes its account, so the share is looked at again.
        transaction.revokedAt = nil
        transaction.sharedFrom = purchase.transaction.id
        // The charge and the offers are the buyer's; the period is the same (rule S3).
        transaction.subscription?.charge = nil
        transaction.subscription?.offer = nil
        transaction.subscription?.redeems = nil
        transaction.subscription?.paidBy =
            purchase.transaction.subscription?.paidBy ?? purchase.transaction.id
        return TransactionRecord(
            transaction: transaction,
            taxBasisPoints: 0,
            traceparent: purchase.traceparent
        )
    }

    /// Takes a share away: it is refunded with nothing, as a purchase that was free.
    ///
    /// - Returns: `nil` if it is taken away already.
    static func revoked(
        _ record: TransactionRecord,
        at time: StoreTime,
        drawing ids: IDSource
    ) -> TransactionRecord? {
        guard record.transaction.revokedAt == nil else { return nil }
        let machine = TransactionStateMachine(time: time, postingID: ids.posting(at: time))
        let move = machine.apply(
            .refund(
                number: (record.transaction.refunds?.last?.number ?? 0) + 1,
                amount: .zero(record.transaction.price.currency),
                revokes: true
            ),
            to: record
        )
        guard case .moved(let revoked, _, _) = move else { return nil }
        return revoked
    }
}
