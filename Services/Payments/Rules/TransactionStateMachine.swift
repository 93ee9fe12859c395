import EventTypes
import Ledger
import StoreAPI

/// The state machine of a transaction (spec rules 33 to 44).
///
/// It decides which command moves a transaction from which state to which, with which event and
/// posting.
///
/// Pure: the time and the posting's id come in as arguments.
///
/// A confirmed charge leads to `purchased` wherever the state allows it. Elsewhere it is a stray
/// charge, which is given back.
struct TransactionStateMachine {
    let time: StoreTime
    let postingID: PostingID

    func apply(_ command: TransactionCommand, to record: TransactionRecord) -> TransactionMove {
        switch record.transaction.state {
        case .purchasing: applyToPurchasing(command, record)
        case .deferred: applyToDeferred(command, record)
        case .purchased: applyToPurchased(command, record)
        case .failed: applyToFailed(command, record)
        case .restored: applyToRestored(command)
        case .unknown: .refused(.stateUnknown)
        }
    }

    private func applyToPurchasing(
        _ command: TransactionCommand,
        _ record: TransactionRecord
    ) -> TransactionMove {
        switch command {
        case .confirmCharge: purchased(record)
        case .beginPeriod(let period): purchased(record, beginning: period)
        case .grantOwned(let originalID, let originalPurchasedAt):
            granted(record, as: .ownedAgain, originalID, originalPurchasedAt)
        case .grantFree:
            granted(record, as: record.transaction.reason, record.transaction.id, time)
        case .awaitBuyer(let isAwaited): waited(record, forBuyer: isAwaited)
        case .fail(let reason): failed(record, reason)
        case .awaitApproval: moved(record, to: .deferred, .transactionDeferred)
        case .declineApproval, .expireApproval: .refused(.notDeferred)
        case .refund, .chargeBack, .reverseRefund, .extendPeriod, .follow:
            .refused(.notPurchased)
        }
    }

    private func applyToDeferred(
        _ command: TransactionCommand,
        _ record: TransactionRecord
    ) -> TransactionMove {
        switch command {
        case .confirmCharge: purchased(record)
        case .beginPeriod(let period): purchased(record, beginning: period)
        case .grantOwned(let originalID, let originalPurchasedAt):
            granted(record, as: .ownedAgain, originalID, originalPurchasedAt)
        case .grantFree:
            granted(record, as: record.transaction.reason, record.transaction.id, time)
        case .awaitBuyer: .refused(.notPurchasing)
        case .fail(let reason): failed(record, reason)
        case .awaitApproval:
            // If the processor asks again after the approval, the charge is not possible.
            record.approval == .approve ? failed(record, .processorRefused) : .unchanged
        case .declineApproval:
            record.approval == .approve
                ? .refused(.decidedOtherwise) : failed(record, .approvalDeclined)
        case .expireApproval:
            record.approval == .approve
                ? .refused(.decidedOtherwise) : failed(record, .approvalExpired)
        case .refund, .chargeBack, .reverseRefund, .extendPeriod, .follow:
            .refused(.notPurchased)
        }
    }

    private func applyToPurchased(
        _ command: TransactionCommand,
        _ record: TransactionRecord
    ) -> TransactionMove {
        switch command {
        case .confirmCharge:
            // A transaction that was granted without a charge cannot take one afterwards.
            record.transaction.price.isZero ? .refused(.chargeIsStray) : .unchanged
        case .beginPeriod, .grantOwned, .grantFree: .unchanged
        case .awaitBuyer: .refused(.notPurchasing)
        case .fail, .awaitApproval, .declineApproval, .expireApproval: .refused(.ended)
        case .refund(let number, let amount, let revokes):
            refunded(record, number, amount, revokes: revokes)
        case .chargeBack(let number, let amount, let dispute):
            refunded(record, number, amount, revokes: true, by: dispute)
        case .reverseRefund(let number): refundReversed(record, number)
        case .extendPeriod(let end): extended(record, until: end)
        case .follow(let shared, let end): followed(record, shared, until: end)
        }
    }

    private func applyToFailed(
        _ command: TransactionCommand,
        _ record: TransactionRecord
    ) -> TransactionMove {
        switch command {
        case .confirmCharge, .beginPeriod: .refused(.chargeIsStray)
        case .awaitBuyer: .refused(.notPurchasing)
        case .fail: .unchanged
        case .grantOwned, .grantFree, .awaitApproval: .refused(.ended)
        case .declineApproval:
            record.transaction.failureReason == .approvalDeclined
                ? .unchanged : .refused(.notDeferred)
        case .expireApproval:
            record.transaction.failureReason == .approvalExpired
                ? .unchanged : .refused(.notDeferred)
        case .refund, .chargeBack, .reverseRefund, .extendPeriod, .follow:
            .refused(.notPurchased)
        }
    }

    private func applyToRestored(_ command: TransactionCommand) -> TransactionMove {
        switch command {
        case .confirmCharge, .beginPeriod: .refused(.chargeIsStray)
        case .awaitBuyer: .refused(.notPurchasing)
        case .refund, .chargeBack, .reverseRefund, .extendPeriod, .follow:
            .refused(.notPurchased)
        case .declineApproval, .expireApproval: .refused(.notDeferred)
        case .grantOwned, .grantFree, .fail, .awaitApproval: .refused(.ended)
        }
    }

    private func purchased(_ record: TransactionRecord) -> TransactionMove {
        let transaction = record.transaction
        let posting = LedgerRules.purchase(
            id: postingID,
            transactionID: transaction.id,
            buyer: transaction.accountID,
            gross: transaction.price,
            taxBasisPoints: record.taxBasisPoints,
            time: time
        )
        return moved(record, to: .purchased, .transactionPurchased, posting) { transaction in
            transaction.purchasedAt = time
            transaction.originalPurchasedAt = time
        }
    }

    /// Begins the period of a subscription; one that costs nothing makes no posting.
    private func purchased(
        _ record: TransactionRecord,
        beginning period: BegunPeriod
    ) -> TransactionMove {
        var paid = record
        paid.transaction.originalID = period.subscriptionID
        if var dated = paid.transaction.subscription {
            dated.start = period.start
            dated.end = period.end
            paid.transaction.subscription = dated
        }
        let move =
            paid.transaction.price.isZero
            ? moved(paid, to: .purchased, .transactionPurchased) { $0.purchasedAt = time }
            : purchased(paid)
        guard case .moved(var begun, let type, let posting) = move else { return move }
        begun.transaction.originalPurchasedAt = period.startedAt
        return .moved(begun, type, posting)
    }

    private func granted(
        _ record: TransactionRecord,
        as reason: TransactionReason,
        _ originalID: TransactionID,
        _ originalPurchasedAt: StoreTime
    ) -> TransactionMove {
        moved(record, to: .purchased, .transactionPurchased) { transaction in
            transaction.originalID = originalID
            transaction.reason = reason
            transaction.price = .zero(transaction.price.currency)
            transaction.purchasedAt = time
            transaction.originalPurchasedAt = originalPurchasedAt
        }
    }

    /// Notes that the charge waits for the buyer, or no longer does.
    private func waited(
        _ record: TransactionRecord,
        forBuyer isAwaited: Bool
    ) -> TransactionMove {
        guard isAwaited != (record.transaction.awaitsBuyer ?? false) else { return .unchanged }
        return moved(record, to: .purchasing, .transactionWaitChanged) { transaction in
            transaction.awaitsBuyer = isAwaited ? true : nil
        }
    }

    private func failed(_ record: TransactionRecord, _ reason: FailureReason) -> TransactionMove {
        moved(record, to: .failed, .transactionFailed) { $0.failureReason = reason }
    }

    /// Adds a refund, or a chargeback by a dispute.
    ///
    /// Only a copy or an amount that does not fit is refused.
    private func refunded(
        _ record: TransactionRecord,
        _ number: Int,
        _ amount: Money,
        revokes: Bool,
        by dispute: String? = nil
    ) -> TransactionMove {
        let transaction = record.transaction
        let earlier = transaction.refunds ?? []
        guard !earlier.contains(where: { $0.number == number }) else { return .unchanged }
        guard !transaction.reason.isCopy else { return .refused(.isCopy) }
        guard amount.currency == transaction.price.currency else {
            return .refused(.refundInOtherCurrency)
        }
        let rest = transaction.refundableAmount
        guard amount.minorUnits <= rest.minorUnits else {
            return .refused(.refundTooLarge(rest: rest))
        }
        // Only what cost nothing is refunded with an amount of zero.
        guard amount.minorUnits > 0 || amount.isZero && transaction.price.isZero else {
            return .refused(.refundNotPositive)
        }
        let posting = LedgerRules.refund(
            id: postingID,
            transactionID: transaction.id,
            number: number,
            buyer: transaction.accountID,
            gross: amount,
            refunded: transaction.refundedAmount,
            taxBasisPoints: record.taxBasisPoints,
            isChargeback: dispute != nil,
            time: time
        )
        let refund = Refund(
            number: number,
            amount: amount,
            refundedAt: time,
            revokes: revokes,
            dispute: dispute
        )
        return moved(record, to: .purchased, .transactionRefunded, posting) { transaction in
            transaction.refunds = (earlier + [refund]).sorted { $0.number < $1.number }
            if revokes { transaction.revokedAt = transaction.revokedAt ?? time }
        }
    }

    /// Reverses a refund.
    ///
    /// The buyer has the product again once no refund takes it away.
    private func refundReversed(_ record: TransactionRecord, _ number: Int) -> TransactionMove {
        let transaction = record.transaction
        var refunds = transaction.refunds ?? []
        guard let index = refunds.firstIndex(where: { $0.number == number }) else {
            return .refused(.refundUnknown(number: number))
        }
        guard refunds[index].reversedAt == nil else { return .unchanged }
        refunds[index].reversedAt = time
        var after = transaction
        after.refunds = refunds
        let posting = LedgerRules.refundReversal(
            id: postingID,
            transactionID: transaction.id,
            number: number,
            buyer: transaction.accountID,
            gross: refunds[index].amount,
            remaining: after.refundedAmount,
            taxBasisPoints: record.taxBasisPoints,
            isChargeback: refunds[index].dispute != nil,
            time: time
        )
        return moved(record, to: .purchased, .transactionRefundReversed, posting) { transaction in
            transaction.refunds = refunds
            let isRevoked = refunds.contains { $0.revokes && $0.reversedAt == nil }
            if !isRevoked { transaction.revokedAt = nil }
        }
    }

    /// Moves the end of the period (row e40 of docs/subscriptions.md).
    private func extended(_ record: TransactionRecord, until end: StoreTime) -> TransactionMove {
        guard record.transaction.subscription?.end != end else { return .unchanged }
        return moved(record, to: .purchased, .transactionExtended) { transaction in
            transaction.subscription?.end = end
        }
    }

    /// Takes over what has become of the subscription whose period is shared (row e45).
    private func followed(
        _ record: TransactionRecord,
        _ shared: TransactionPeriod.Shared,
        until end: StoreTime
    ) -> TransactionMove {
        var period = record.transaction.subscription
        period?.end = end
        period?.shared = shared
        guard period != record.transaction.subscription else { return .unchanged }
        return moved(record, to: .purchased, .transactionExtended) { transaction in
            transaction.subscription = period
        }
    }

    /// Changes the state; the only place that raises the version.
    ///
    /// The buyer is awaited no longer, unless the change says so.
    private func moved(
        _ record: TransactionRecord,
        to state: TransactionState,
        _ event: EventType,
        _ posting: Posting? = nil,
        _ change: (inout Transaction) -> Void = { _ in }
    ) -> TransactionMove {
        var record = record
        record.transaction.state = state
        record.transaction.version += 1
        record.transaction.awaitsBuyer = nil
        change(&record.transaction)
        return .moved(record, event, posting)
    }
}

extension Transaction {
    /// The part of the price that is not refunded, or was and came back.
    var refundableAmount: Money {
        Money(
            minorUnits: price.minorUnits - refundedAmount.minorUnits,
            currency: price.currency
        )
    }
}
