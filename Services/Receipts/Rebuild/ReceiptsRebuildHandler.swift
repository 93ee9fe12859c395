import EventTypes
import Foundation
import Messaging
import Postgres
import Rebuild

/// Rebuilds the receipts from the service's own log, the finishes of `fulfillment`, the
/// subscriptions of `payments` and the products of `catalog`.
///
/// The signed payloads are assembled again, and the signatures are taken from the log.
struct ReceiptsRebuildHandler: Rebuilder {
    private let receipts = ReceiptStore()
    private let serverAPI = ServerAPIStore()

    let sources: [RebuildSource] = [
        .own(.receipts, [.receiptIssued, .receiptReissued]),
        .consumed(
            .fulfillment,
            [.transactionFinished],
            by: .receipts
        ),
        .consumed(.payments, [.subscriptionChanged, .refundRequestChanged], by: .receipts),
        .consumed(.catalog, [.productChanged], by: .receipts),
    ]

    let unreadIndexes = [
        "signed_transactions_by_history", "signed_transactions_refunded",
        "signed_transactions_shared", "subscriptions_by_account",
    ]

    var tables: [RebuiltTable] { ReceiptsTables.all }

    func apply(
        _ rows: [OutboxRow],
        on shadow: isolated PostgresConnection
    ) throws -> [LogContradiction] {
        var contradictions: [LogContradiction] = []
        var pending = PendingReceipts()
        for row in rows {
            let unread = try LogContradiction.reading([row]) { _ in
                if let reason = try apply(row, &pending, on: shadow) {
                    contradictions.append(LogContradiction(row, reason))
                }
            }
            contradictions += unread
        }
        try store(&pending, on: shadow)
        return contradictions
    }

    func consume(_ events: [ReceivedEvent], on shadow: isolated PostgresConnection) throws {
        let batch = try ReceiptBatch(events, signedIn: nil)
        _ = try SubscriptionStatusStore.save(batch.subscriptionChanges, on: shadow)
        _ = try RequestedRefundStore.save(batch.refundRequests, on: shadow)
        try SubscriptionProductStore.save(batch.products, on: shadow)
        guard !batch.finishes.isEmpty else { return }
        try receipts.recordFinishes(batch.finishes, on: shadow)
    }

    /// Applies an event.
    ///
    /// - Returns: A description of the problem with the event, if any.
    private func apply(
        _ row: OutboxRow,
        _ pending: inout PendingReceipts,
        on shadow: isolated PostgresConnection
    ) throws -> String? {
        guard row.event.type == .receiptReissued else {
            return try pending.take(EventCoding.decode(ReceiptIssued.self, from: row.event.data))
        }
        let event = try EventCoding.decode(ReceiptReissued.self, from: row.event.data)
        // The receipt that is signed again has to exist first.
        try store(&pending, on: shadow)
        return try reissue(event, at: row.event.time, on: shadow)
    }

    /// Writes receipts, one chain after the other.
    private func store(
        _ pending: inout PendingReceipts,
        on shadow: isolated PostgresConnection
    ) throws {
        for (chain, signed) in pending.byChain {
            let number = try ReceiptsRebuildStore.number(of: chain, on: shadow)
            _ = try receipts.add(signed, chainNumber: number, on: shadow)
        }
        try ReceiptsRebuildStore.keep(pending.accounts, on: shadow)
        pending = PendingReceipts()
    }

    /// Writes a receipt that was signed again.
    ///
    /// - Returns: A description of the problem with the event, if any.
    private func reissue(
        _ event: ReceiptReissued,
        at time: StoreTime,
        on shadow: isolated PostgresConnection
    ) throws -> String? {
        let number = try ReceiptsRebuildStore.number(of: event.signingChainID, on: shadow)
        let content: SignedContent
        if let transaction = event.transaction {
            let signed = try SignedTransaction(
                transaction,
                event.signing,
                signedAt: event.issuedAt
            )
            try receipts.replace([signed], chainNumber: number, on: shadow)
            content = SignedContent(
                payload: signed.payload,
                signature: signed.signature,
                signedAt: signed.signedAt
            )
        } else {
            let found = try serverAPI.payloads(
                of: event.originalTransactionID,
                after: TransactionID(number: event.transactionID.number - 1),
                limit: 1,
                on: shadow
            )
            guard let before = found.first, before.id == event.transactionID else {
                return "the log has no event of its first signature"
            }
            let payload = try SignedTransactionPayload(
                again: before.payload,
                appAccountToken: event.signing.appAccountToken,
                isUpgraded: event.signing.isUpgraded ?? false,
                at: event.issuedAt
            )
            content = SignedContent(
                payload: payload.encoded(),
                signature: event.signing.signatureBytes,
                signedAt: event.issuedAt
            )
            try serverAPI.replace(
                [(event.transactionID, content, event.signing.historyPosition)],
                chainNumber: number,
                on: shadow
            )
            if event.signing.isUpgraded == true {
                try UpgradedPeriodStore.mark([event.transactionID], on: shadow)
            } else if let token = event.signing.appAccountToken {
                try serverAPI.setAccountToken(
                    token,
                    of: event.originalTransactionID,
                    at: time,
                    on: shadow
                )
            }
        }
        return content.payloadSHA256 == event.payloadSHA256
            ? nil : "the payload made from the log is not the signed one"
    }
}

/// The receipts from the log that are not written yet.
private struct PendingReceipts {
    private(set) var byChain: [String: [SignedTransaction]] = [:]
    /// The app transaction of each account in an app.
    private(set) var accounts: [OwnerKey: Int64] = [:]

    /// Adds a receipt.
    ///
    /// - Returns: A description of the problem with the event, if any.
    mutating func take(_ event: ReceiptIssued) throws -> String? {
        guard let signing = event.signing else {
            return "it is from before the events of receipts named what was signed"
        }
        let signed = try SignedTransaction(event.transaction, signing, signedAt: event.issuedAt)
        byChain[event.signingChainID, default: []].append(signed)
        accounts[event.transaction.owner] = signing.appTransactionID
        return signed.payloadSHA256 == event.payloadSHA256
            ? nil : "the payload made from the log is not the signed one"
    }
}

extension SignedTransaction {
    /// Creates a receipt from the log: the payload is assembled again, the signature is the logged
    /// one.
    init(
        _ transaction: Transaction,
        _ signing: ReceiptSigning,
        signedAt: StoreTime
    ) throws {
        guard let environment = StoreEnvironment(rawValue: signing.environment) else {
            throw ReceiptsError(
                code: .storedReceiptMalformed,
                detail: "No receipt is of the environment \(signing.environment)."
            )
        }
        let context = SigningContext(
            appTransactionID: signing.appTransactionID,
            appAccountToken: signing.appAccountToken,
            isUpgraded: signing.isUpgraded ?? false,
            historyPosition: signing.historyPosition
        )
        let content = try SignedTransactionPayload(
            transaction,
            context,
            environment: environment,
            signedAt: signedAt
        )
        self.init(
            transaction: transaction,
            purchasedAt: content.purchaseDate,
            signedAt: content.signedDate,
            payload: content.encoded(),
            signature: signing.signatureBytes,
            context: context
        )
    }
}

extension ReceiptSigning {
    /// The bytes of the signature, or 64 zeros if it is malformed.
    ///
    /// No receipt has that signature.
    fileprivate var signatureBytes: [UInt8] {
        guard let bytes = Data(base64Encoded: signature), bytes.count == 64 else {
            return Array(repeating: 0, count: 64)
        }
        return Array(bytes)
    }
}
