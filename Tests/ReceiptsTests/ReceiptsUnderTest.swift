import ClockAndIDs
import EventTypes
import Messaging
import Postgres
import StoreAPI
import Synchronization
import TestSupport

@testable import Receipts

extension ReceivedEvent {
    /// Returns an event of `payments` as the consumer receives it.
    static func of(
        _ type: EventType,
        _ transaction: Transaction,
        in environment: StoreEnvironment? = nil
    ) throws -> ReceivedEvent {
        ReceivedEvent(
            id: EventID(time: TestChain.now),
            type: type,
            topic: Topics.paymentsTransactions.name,
            key: transaction.accountID.rawValue,
            subject: transaction.id.rawValue,
            time: TestChain.now,
            data: try EventCoding.encode(
                TransactionChanged(
                    transaction: transaction,
                    environment: environment?.rawValue
                )
            )
        )
    }

    /// Returns an event of `fulfillment`: the transaction was finished.
    static func finished(_ transaction: Transaction, at time: StoreTime) throws -> ReceivedEvent {
        let change = QueueChanged(
            revision: 7,
            transaction: transaction,
            isDelivered: true,
            finishedAt: time
        )
        return ReceivedEvent(
            id: EventID(time: time),
            type: .transactionFinished,
            topic: Topics.fulfillmentTransactions.name,
            key: transaction.accountID.rawValue,
            subject: transaction.id.rawValue,
            time: time,
            data: try EventCoding.encode(change)
        )
    }
}

/// `receipts` over a database, without broker and HTTP, with helpers for tests.
struct ReceiptsUnderTest {
    let client: PostgresClient
    let handler: ReceiptHandler
    /// The transactions of other environments that the handler has received.
    let foreign = ForeignEvents()

    /// The errors collected from any thread.
    final class ForeignEvents: Sendable {
        private let errors = Mutex<[ForeignEnvironment]>([])
        func withLock(_ body: (inout [ForeignEnvironment]) -> Void) {
            errors.withLock { body(&$0) }
        }
        var all: [ForeignEnvironment] { errors.withLock { $0 } }
    }

    init(
        _ client: PostgresClient,
        chain: SigningChain,
        environment: StoreEnvironment = .sandbox,
        now: StoreTime = TestChain.now,
        storeAhead: Duration = .zero
    ) {
        self.client = client
        let store = ReceiptStore()
        let signer = ReceiptSigner(chain: chain, environment: environment, at: now)
        handler = ReceiptHandler(
            store: store,
            signer: signer,
            notificationWriter: NotificationWriter(
                signer: signer,
                store: store,
                machineNow: { now.onMachines },
                app: { _ in nil }
            ),
            now: { now.advanced(by: storeAhead) },
            wakeRelay: {},
            wakeNotifications: {},
            didMeetForeignTransaction: { [foreign] error in foreign.withLock { $0.append(error) } }
        )
    }

    /// Applies a batch in one database transaction, as the consumer does.
    func apply(_ events: [ReceivedEvent]) async throws {
        try await client.withTransaction { [handler] connection in
            try handler.apply(events, on: connection)
        }
    }

    /// Returns the receipt of a transaction for an account.
    func receipt(
        of transaction: Transaction,
        account: String? = nil,
        bundle: String? = nil
    ) async throws -> String? {
        let account = account.map { AccountID(unchecked: $0) } ?? transaction.accountID
        let bundle = bundle.map { BundleID(unchecked: $0) } ?? transaction.bundleID
        return try await ReceiptReader(store: handler.store, client: client)
            .receipt(of: transaction.id, owner: (account, bundle))?.signedTransaction
    }

    /// Returns the issued receipts from the outbox, in order.
    func issued() async throws -> [ReceiptIssued] {
        try await client.withConnection { connection in
            var events: [ReceiptIssued] = []
            for row in try connection.query(
                """
                SELECT type, topic, key, unpacked_json(data) FROM outbox
                WHERE type <> 'receipt.reissued.v1' ORDER BY xid, position
                """
            ) {
                let (type, topic, key, data) = try row.decode(
                    String.self,
                    String.self,
                    String.self,
                    String.self
                )
                let event = try EventCoding.decode(ReceiptIssued.self, from: Array(data.utf8))
                precondition(type == EventType.receiptIssued.rawValue)
                precondition(topic == Topics.receiptsIssued.name)
                precondition(key == event.transaction.accountID.rawValue)
                events.append(event)
            }
            return events
        }
    }

    /// Returns the types and the data of all published events, in order.
    func published() async throws -> [(type: EventType, data: [UInt8])] {
        try await client.withConnection { connection in
            try connection.query(
                "SELECT type, unpacked_json(data) FROM outbox ORDER BY xid, position"
            ).map {
                let (type, data) = try $0.decode(String.self, String.self)
                return (EventType(rawValue: type), Array(data.utf8))
            }
        }
    }

    /// Returns the single number that a query yields.
    func count(_ query: SQL) async throws -> Int64 {
        try await client.withConnection { connection in
            guard let row = try connection.query(query).first else { return -1 }
            return try row.decode(Int64.self)
        }
    }
}
