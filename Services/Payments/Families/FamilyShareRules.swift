import EventTypes

/// The rules of what a member gets of another one's purchase.
///
/// Pure.
enum FamilyShareRules {
    /// The transaction with which a member gets a purchase.
    ///
    /// It is a purchase of its own that costs nothing: it is delivered and finished like any other, and
    /// says whose purchase it shares. It begins a chain of its own, unless the member has had a share of
    /// the same subscription: then it belongs to the chain of that one (rules S1 and S140). Credits are
    /// not shared, because the buyer got them.
    static func share(
        of purchase: TransactionRecord,
        with member: AccountID,
        as id: TransactionID,
        after earlier: FamilyShareStore.EarlierShare? = nil,
        standing: FamilyShareStore.Standing? = nil,
        at time: StoreTime
    ) -> TransactionRecord {
        var transaction = purchase.transaction
        transaction.id = id
        transaction.originalID = earlier?.originalID ?? id
        transaction.reason = .familyShared
        transaction.version = 1
        transaction.accountID = member
        transaction.price = .zero(transaction.price.currency)
        transaction.applicationUsername = nil
        transaction.deliveryPlan.removeAll { if case .credit = $0 { true } else { false } }
        transaction.requestedAt = time
        transaction.purchasedAt = time
        transaction.originalPurchasedAt = earlier?.originalPurchasedAt ?? time
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
        transaction.subscription?.shared = TransactionPeriod.Shared(
            began: beginning(of: purchase.transaction, after: earlier),
            gracePeriodEnd: standing?.gracePeriodEnd,
            state: standing?.state ?? .active
        )
        return TransactionRecord(
            transaction: transaction,
            taxBasisPoints: 0,
            traceparent: purchase.traceparent
        )
    }

    /// The change that a share begins with, as it is for the member (row e43).
    ///
    /// The first is a purchase, and so is one after the member was without. The others are what they are
    /// for the buyer.
    private static func beginning(
        of purchase: Transaction,
        after earlier: FamilyShareStore.EarlierShare?
    ) -> SubscriptionCause {
        guard let earlier else { return .purchased }
        guard earlier.sharedFrom != purchase.id else { return .resubscribed }
        guard purchase.subscription?.replaces == nil else { return .upgraded }
        guard purchase.reason == .renewal, !earlier.isRevoked else { return .resubscribed }
        let wasOwed = earlier.state == .inGracePeriod || earlier.state == .inBillingRetryPeriod
        return wasOwed ? .recovered : .renewed
    }

    /// Lets a share follow its purchase (row e45).
    ///
    /// Its period has another end, or the buyer's subscription another state.
    ///
    /// - Returns: `nil` if it has followed already, or was taken away.
    static func followed(
        _ record: TransactionRecord,
        _ behind: FamilyShareStore.Behind,
        at time: StoreTime,
        drawing ids: IDSource
    ) -> TransactionRecord? {
        guard let before = record.transaction.subscription?.shared,
            record.transaction.revokedAt == nil
        else { return nil }
        var after = before
        // The period was extended, or the next one has taken over, which is no news of this one.
        after.followed = record.transaction.subscription?.end == behind.end ? nil : .extended
        after.gracePeriodEnd = behind.standing?.gracePeriodEnd
        if let standing = behind.standing, standing.state != before.state {
            after.state = standing.state
            after.followed = change(to: standing, from: before.state) ?? after.followed
        }
        let machine = TransactionStateMachine(time: time, postingID: ids.posting(at: time))
        let move = machine.apply(.follow(after, until: behind.end), to: record)
        guard case .moved(let followed, _, _) = move else { return nil }
        return followed
    }

    /// The change of the buyer's subscription that led to a state; `nil` if it has none of its own.
    private static func change(
        to standing: FamilyShareStore.Standing,
        from before: SubscriptionState
    ) -> SubscriptionCause? {
        switch standing.state {
        case .inGracePeriod: .gracePeriodBegan
        case .inBillingRetryPeriod:
            before == .inGracePeriod ? .gracePeriodEnded : .billingRetryBegan
        case .expired:
            switch standing.expirationIntent {
            case .autoRenewDisabled: before == .active ? .expired : .cancelledUnpaid
            case .billingError: .billingRetryEnded
            case .didNotConsentToPriceIncrease: .priceNotAgreed
            case .productUnavailable: .productUnavailable
            case .unknown, nil: .ended
            }
        case .active, .revoked, .unknown: nil
        }
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
