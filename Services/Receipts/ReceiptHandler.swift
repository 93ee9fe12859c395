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
        try SubscriptionProductStore.save(batch.products, on: connection)
        let requests = try RequestedRefundStore.save(batch.refundRequests, on: connection)
        let upgrades = UpgradedPeriods(changes)
        guard
            !batch.entries.isEmpty || !changes.isEmpty || !requests.isEmpty
                || !batch.massExtensions.isEmpty
        else { return }
        let now = now()
        let owners = Set(batch.entries.map(\.transaction.owner)).union(upgrades.owners)
        let accounts =
            owners.isEmpty ? [:] : try serverAPI.lock(owners, at: now, on: connection)
        var receipts: [OutboxEvent] = []
        if !batch.entries.isEmpty {
            receipts = try sign(batch, of: accounts, at: now, on: connection)
        }
        receipts += try sign(upgrades, of: accounts, at: now, on: connection)
        if try notificationWriter.write(changes, at: now, on: connection) {
            owesNotifications.store(true, ordering: .relaxed)
        }
        let requestWriter = RefundRequestNotificationWriter(writer: notificationWriter)
        if try requestWriter.write(requests, at: now, on: connection) {
            owesNotifications.store(true, ordering: .relaxed)
        }
        let extensionWriter = MassExtensionNotificationWriter(writer: notificationWriter)
        if try extensionWriter.write(batch.massExtensions, at: now, on: connection) {
            owesNotifications.store(true, ordering: .relaxed)
        }
        if !receipts.isEmpty {
            try Outbox.append(receipts, on: connection)
        }
    }

    func didCommit(_ events: [ReceivedEvent]) async {
        wakeRelay()
        if owesNotifications.exchange(false, ordering: .relaxed) { wakeNotifications() }
    }

    /// Signs the transactions of a batch, stores their receipts, and notifies merchants of them.
    ///
    /// - Returns: The events of the receipts.
    private func sign(
        _ batch: ReceiptBatch,
        of accounts: [OwnerKey: Int64],
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> [OutboxEvent] {
        let contexts = try contexts(of: batch, accounts, on: connection)
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
        if try notificationWriter.write(signed, saved, at: now, on: connection) {
            owesNotifications.store(true, ordering: .relaxed)
        }
        return receipts
    }

    /// Signs the transactions of upgraded periods again (rule S101).
    ///
    /// - Returns: The events of the receipts.
    private func sign(
        _ upgrades: UpgradedPeriods,
        of accounts: [OwnerKey: Int64],
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> [OutboxEvent] {
        guard !upgrades.isEmpty else { return [] }
        let known = try UpgradedPeriodStore.payloads(of: upgrades.ids, on: connection)
        let (positions, tokens) = try connection.read(
            serverAPI.positions(known.count),
            serverAPI.accountTokens(of: Set(known.map(\.originalID)))
        )
        let signed = try zip(known, positions).map { known, position in
            (
                id: known.id,
                content: try signer.signAgain(known.payload, isUpgraded: true, at: now),
                position: position
            )
        }
        try serverAPI.replace(
            signed,
            chainNumber: try store.number(of: signer.chain, at: now, on: connection),
            on: connection
        )
        try UpgradedPeriodStore.mark(known.map(\.id), on: connection)
        return zip(known, signed).map { known, signed in
            let owner = upgrades.owner(of: known.id)
            return OutboxEvent(
                ReceiptReissued(
                    transactionID: known.id,
                    originalTransactionID: known.originalID,
                    transaction: nil,
                    signingChainID: signer.chain.id,
                    payloadSHA256: signed.content.payloadSHA256,
                    issuedAt: signed.content.signedAt,
                    signing: ReceiptSigning(
                        appAccountToken: tokens[known.originalID],
                        appTransactionID: accounts[owner],
                        environment: signer.environment.rawValue,
                        historyPosition: signed.position,
                        isUpgraded: true,
                        signature: Data(signed.content.signature).base64EncodedString()
                    )
                ),
                key: owner.account,
                at: now
            )
        }
    }

    /// Returns the signing context of each entry, whose account is locked.
    ///
    /// If an entry's receipt exists already, its position stays unused. No reader of the history
    /// depends on a position being used.
    private func contexts(
        of batch: ReceiptBatch,
        _ accounts: [OwnerKey: Int64],
        on connection: isolated PostgresConnection
    ) throws -> [SigningContext] {
        let periods = batch.entries.compactMap { entry in
            entry.transaction.subscription == nil ? nil : entry.transaction.id
        }
        let (positions, tokens, upgraded) = try connection.read(
            serverAPI.positions(batch.entries.count),
            serverAPI.accountTokens(of: Set(batch.entries.map(\.transaction.originalID))),
            UpgradedPeriodStore.upgraded(periods)
        )
        return zip(batch.entries, positions).map { entry, position in
            SigningContext(
                appTransactionID: accounts[entry.transaction.owner],
                appAccountToken: tokens[entry.transaction.originalID],
                isUpgraded: upgraded.contains(entry.transaction.id),
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
            isUpgraded: signed.context.isUpgraded ? true : nil,
            signature: Data(signed.signature).base64EncodedString()
        )
    }
}
