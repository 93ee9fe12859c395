import ClockAndIDs
import EventTypes
import Foundation
import Messaging
import Postgres
import StoreTracing
import Synchronization

/// Signs receipts for the transactions in events, a whole batch in one database transaction.
///
/// Each purchased or restored transaction gets one receipt and one `receipt.issued` event, however
/// often and in whatever order its events arrive. A refund and its reversal sign the receipt again
/// and publish `receipt.reissued`.
final class ReceiptHandler: EventHandler {
    let store: ReceiptStore
    let serverAPI = ServerAPIStore()
    let signer: ReceiptSigner
    let notificationWriter: NotificationWriter
    let now: @Sendable () -> StoreTime
    let wakeRelay: @Sendable () -> Void
    /// Called after the commit, when notifications may be due.
    let wakeNotifications: @Sendable () -> Void
    /// Called with a transaction that was made in another environment.
    ///
    /// The event is retried until the service is stopped.
    let didMeetForeignTransaction: @Sendable (ForeignEnvironment) -> Void
    private let owesNotifications = Atomic(false)

    init(
        store: ReceiptStore,
        signer: ReceiptSigner,
        notificationWriter: NotificationWriter,
        now: @escaping @Sendable () -> StoreTime,
        wakeRelay: @escaping @Sendable () -> Void,
        wakeNotifications: @escaping @Sendable () -> Void,
        didMeetForeignTransaction: @escaping @Sendable (ForeignEnvironment) -> Void
    ) {
        self.store = store
        self.signer = signer
        self.notificationWriter = notificationWriter
        self.now = now
        self.wakeRelay = wakeRelay
        self.wakeNotifications = wakeNotifications
        self.didMeetForeignTransaction = didMeetForeignTransaction
    }

    let eventTypes = Topics.eventTypes(actedOnBy: .receipts)

    func apply(_ events: [ReceivedEvent], on connection: isolated PostgresConnection) throws {
        let batch: ReceiptBatch
        do {
            batch = try ReceiptBatch(events, signedIn: signer.environment)
        } catch let error as ForeignEnvironment {
            didMeetForeignTransaction(error)
            throw error
        }
        let changes = try SubscriptionStatusStore.save(batch.subscriptionChanges, on: connection)
        if !batch.finishes.isEmpty {
            try store.recordFinishes(batch.finishes, on: connection)
        }
        let now = now()
        if !batch.entries.isEmpty {
            try sign(batch, at: now, on: connection)
        }
        if try notificationWriter.write(changes, at: now, on: connection) {
            owesNotifications.store(true, ordering: .relaxed)
        }
    }

    func didCommit(_ events: [ReceivedEvent]) async {
        wakeRelay()
        if owesNotifications.exchange(false, ordering: .relaxed) { wakeNotifications() }
    }

    /// Signs the transactions of a batch, stores and publishes their receipts, and notifies
    /// merchants of them.
    private func sign(
        _ batch: ReceiptBatch,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        let contexts = try contexts(of: batch, at: now, on: connection)
        var signed: [SignedTransaction] = []
        signed.reserveCapacity(batch.entries.count)
        for (entry, context) in zip(batch.entries, contexts) {
            signed.append(try signer.sign(entry.transaction, context, at: now))
        }
        let saved = try store.save(signed, chain: signer.chain, at: now, on: connection)
        var receipts: [OutboxEvent] = []
        receipts.reserveCapacity(saved.issued.count)
        for (index, signed) in signed.enumerated() {
            let signing = signer.signing(signed)
            let entry = batch.entries[index]
            if saved.issued.contains(signed.transaction.id) {
                receipts.append(receiptIssued(signed, signing, of: entry, at: now))
            } else if saved.replaced[signed.transaction.id] != nil {
                receipts.append(receiptReissued(signed, signing, of: entry, at: now))
            }
        }
        if !receipts.isEmpty {
            try Outbox.append(receipts, on: connection)
        }
        if try notificationWriter.write(signed, saved, at: now, on: connection) {
            owesNotifications.store(true, ordering: .relaxed)
        }
    }

    /// Returns the signing context of each entry, and locks the accounts' rows until commit.
    ///
    /// If an entry's receipt exists already, its position stays unused. No reader of the history
    /// depends on a position being used.
    private func contexts(
        of batch: ReceiptBatch,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> [SigningContext] {
        let owners = Set(batch.entries.map(\.transaction.owner))
        let appTransactions = try serverAPI.lock(owners, at: now, on: connection)
        let positions = try serverAPI.positions(batch.entries.count, on: connection)
        let tokens = try serverAPI.accountTokens(
            of: Set(batch.entries.map(\.transaction.originalID)),
            on: connection
        )
        return zip(batch.entries, positions).map { entry, position in
            SigningContext(
                appTransactionID: appTransactions[entry.transaction.owner],
                appAccountToken: tokens[entry.transaction.originalID],
                historyPosition: position
            )
        }
    }

    private func receiptIssued(
        _ signed: SignedTransaction,
        _ signing: ReceiptSigning,
        of entry: ReceiptBatch.Entry,
        at now: StoreTime
    ) -> OutboxEvent {
        let event = ReceiptIssued(
            transaction: signed.transaction,
            signingChainID: signer.chain.id,
            payloadSHA256: signed.payloadSHA256,
            issuedAt: signed.signedAt,
            signing: signing
        )
        return OutboxEvent(
            id: EventID(time: now),
            type: .receiptIssued,
            topic: Topics.receiptsIssued,
            key: signed.transaction.accountID.rawValue,
            subject: signed.transaction.id.rawValue,
            time: now,
            traceparent: entry.traceparent,
            data: event.json(transaction: entry.snapshot)
        )
    }

    private func receiptReissued(
        _ signed: SignedTransaction,
        _ signing: ReceiptSigning,
        of entry: ReceiptBatch.Entry,
        at now: StoreTime
    ) -> OutboxEvent {
        OutboxEvent(
            ReceiptReissued(
                transactionID: signed.transaction.id,
                originalTransactionID: signed.transaction.originalID,
                transaction: signed.transaction,
                signingChainID: signer.chain.id,
                payloadSHA256: signed.payloadSHA256,
                issuedAt: signed.signedAt,
                signing: signing
            ),
            snapshot: entry.snapshot,
            key: signed.transaction.accountID,
            at: now,
            traceparent: entry.traceparent
        )
    }
}

extension OutboxEvent {
    /// The event of a receipt that was signed again.
    init(
        _ reissued: ReceiptReissued,
        snapshot: [UInt8]? = nil,
        key: AccountID,
        at now: StoreTime,
        traceparent: TraceContext? = nil
    ) {
        self.init(
            id: EventID(time: now),
            type: .receiptReissued,
            topic: Topics.receiptsIssued,
            key: key.rawValue,
            subject: reissued.transactionID.rawValue,
            time: now,
            traceparent: traceparent,
            data: reissued.json(transaction: snapshot)
        )
    }
}

extension ReceiptSigner {
    /// Returns the part of an event that describes the receipt, without its transaction.
    func signing(_ signed: SignedTransaction) -> ReceiptSigning {
        ReceiptSigning(
            appAccountToken: signed.context.appAccountToken,
            appTransactionID: signed.context.appTransactionID,
            environment: environment.rawValue,
            historyPosition: signed.context.historyPosition,
            signature: Data(signed.signature).base64EncodedString()
        )
    }
}
