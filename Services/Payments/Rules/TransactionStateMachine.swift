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
    let time: Timestamp
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
        case .grantOwned(let originalID, let originalPurchasedAt):
            granted(record, originalID, originalPurchasedAt)
        case .grantFree: granted(record, record.transaction.id, time)
        case .fail(let reason): failed(record, reason)
        case .awaitApproval: moved(record, to: .deferred, .transactionDeferred)
        case .declineApproval, .expireApproval: .refused(.notDeferred)
        case .refund: .refused(.notPurchased)
        }
    }

    private func applyToDeferred(
        _ command: TransactionCommand,
        _ record: TransactionRecord
    ) -> TransactionMove {
        switch command {
        case .confirmCharge: purchased(record)
        case .grantOwned(let originalID, let originalPurchasedAt):
            granted(record, originalID, originalPurchasedAt)
        case .grantFree: granted(record, record.transaction.id, time)
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
        case .refund: .refused(.notPurchased)
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
        case .grantOwned, .grantFree: .unchanged
        case .fail, .awaitApproval, .declineApproval, .expireApproval: .refused(.ended)
        case .refund: record.transaction.revokedAt == nil ? refunded(record) : .unchanged
        }
    }

    private func applyToFailed(
        _ command: TransactionCommand,
        _ record: TransactionRecord
    ) -> TransactionMove {
        switch command {
        case .confirmCharge: .refused(.chargeIsStray)
        case .fail: .unchanged
        case .grantOwned, .grantFree, .awaitApproval: .refused(.ended)
        case .declineApproval:
            record.transaction.failureReason == .approvalDeclined
                ? .unchanged : .refused(.notDeferred)
        case .expireApproval:
            record.transaction.failureReason == .approvalExpired
                ? .unchanged : .refused(.notDeferred)
        case .refund: .refused(.notPurchased)
        }
    }

    private func applyToRestored(_ command: TransactionCommand) -> TransactionMove {
        switch command {
        case .confirmCharge: .refused(.chargeIsStray)
        case .refund: .refused(.notPurchased)
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

    private func granted(
        _ record: TransactionRecord,
        _ originalID: TransactionID,
        _ originalPurchasedAt: Timestamp
    ) -> TransactionMove {
        moved(record, to: .purchased, .transactionPurchased) { transaction in
            transaction.originalID = originalID
            if originalID != transaction.id { transaction.reason = .ownedAgain }
            transaction.price = .zero(transaction.price.currency)
            transaction.purchasedAt = time
            transaction.originalPurchasedAt = originalPurchasedAt
        }
    }

    private func failed(_ record: TransactionRecord, _ reason: FailureReason) -> TransactionMove {
        moved(record, to: .failed, .transactionFailed) { $0.failureReason = reason }
    }

    private func refunded(_ record: TransactionRecord) -> TransactionMove {
        let transaction = record.transaction
        let posting = LedgerRules.refund(
            id: postingID,
            transactionID: transaction.id,
            number: 1,
            buyer: transaction.accountID,
            gross: transaction.price,
            refunded: .zero(transaction.price.currency),
            taxBasisPoints: record.taxBasisPoints,
            time: time
        )
        return moved(record, to: .purchased, .transactionRefunded, posting) {
            $0.revokedAt = time
        }
    }

    /// Changes the state; the only place that raises the version.
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
        change(&record.transaction)
        return .moved(record, event, posting)
    }
}
