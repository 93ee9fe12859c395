import EventTypes
import Messaging
import Postgres
import Synchronization

/// Events in, receipts out: one database transaction for a whole batch.
///
/// Each purchased or restored transaction gets one receipt and one `receipt.issued` event, however
/// often and in whatever order its events come. A refund signs the receipt again with a revocation
/// date and issues nothing: it is `transaction.refunded` that tells of it.
final class ReceiptHandler: EventHandler {
    let store: ReceiptStore
    let signer: ReceiptSigner
    let announcements: AnnouncementHandler
    let now: @Sendable () -> Timestamp
    let wakeRelay: @Sendable () -> Void
    /// Told after the commit that there may be notifications to send.
    let wakeNotifications: @Sendable () -> Void
    private let owesNotifications = Atomic(false)

    init(
        store: ReceiptStore,
        signer: ReceiptSigner,
        announcements: AnnouncementHandler,
        now: @escaping @Sendable () -> Timestamp,
        wakeRelay: @escaping @Sendable () -> Void,
        wakeNotifications: @escaping @Sendable () -> Void
    ) {
        self.store = store
        self.signer = signer
        self.announcements = announcements
        self.now = now
        self.wakeRelay = wakeRelay
        self.wakeNotifications = wakeNotifications
    }

    var eventTypes: Set<EventType> {
        [.transactionPurchased, .transactionRestored, .transactionRefunded, .transactionFinished]
    }

    func apply(_ events: [ReceivedEvent], on connection: isolated PostgresConnection) throws {
        let batch = try ReceiptBatch(events)
        if !batch.finishes.isEmpty {
            try store.recordFinishes(batch.finishes, on: connection)
        }
        if batch.entries.isEmpty {
            return
        }
        let now = now()
        var signed: [SignedTransaction] = []
        signed.reserveCapacity(batch.entries.count)
        for entry in batch.entries {
            signed.append(try signer.sign(entry.transaction, at: now))
        }
        let issued = try store.save(signed, chain: signer.chain, at: now, on: connection)
        var receipts: [OutboxEvent] = []
        receipts.reserveCapacity(issued.count)
        for (signed, entry) in zip(signed, batch.entries)
        where issued.contains(signed.transaction.id) {
            receipts.append(try receiptIssued(signed, at: now, traceparent: entry.traceparent))
        }
        if !receipts.isEmpty {
            try Outbox.append(receipts, on: connection)
        }
        if try announcements.announce(signed, issued: issued, at: now, on: connection) {
            owesNotifications.store(true, ordering: .relaxed)
        }
    }

    func didCommit(_ events: [ReceivedEvent]) async {
        wakeRelay()
        if owesNotifications.exchange(false, ordering: .relaxed) { wakeNotifications() }
    }

    private func receiptIssued(
        _ signed: SignedTransaction,
        at now: Timestamp,
        traceparent: String?
    ) throws -> OutboxEvent {
        try OutboxEvent(
            ReceiptIssued(
                transaction: signed.transaction,
                signingChainID: signer.chain.id,
                payloadSHA256: signed.payloadSHA256,
                issuedAt: signed.signedAt
            ),
            type: .receiptIssued,
            topic: Topics.receiptsIssued,
            key: signed.transaction.accountID.rawValue,
            subject: signed.transaction.id.rawValue,
            time: now,
            traceparent: traceparent
        )
    }
}
