import EventTypes
import Foundation
import Messaging
import Postgres
import TestSupport

@testable import Fulfillment

/// The database of `fulfillment` in a test, with the rights of the service.
struct FulfillmentDatabase: Sendable {
    let client: PostgresClient
    let clock: ManualClock
    let handler: TransactionHandler
    let finishing: FinishHandler
    let webhooks: WebhookHandler
    let reads: QueueReadStore

    init(client: PostgresClient, publisher: QueuePublisher = .toTheLog) {
        let clock = ManualClock(startOfTime)
        self.client = client
        self.clock = clock
        handler = TransactionHandler(
            now: clock.now,
            machineNow: clock.machineNow,
            publisher: publisher,
            wakeWebhooks: {},
            webhookLease: .seconds(30)
        )
        finishing = FinishHandler(client: client, now: clock.now, publisher: publisher)
        webhooks = WebhookHandler(
            client: client,
            now: clock.now,
            machineNow: clock.machineNow,
            lease: .seconds(30),
            publisher: publisher
        )
        reads = QueueReadStore(client: client, now: clock.now)
    }

    /// Applies transactions as one batch, in one database transaction.
    func arrive(_ transactions: Transaction...) async throws {
        try await arrive(transactions)
    }

    func arrive(_ transactions: [Transaction]) async throws {
        try await arrive(events: try transactions.map { try ReceivedEvent.arrival($0) })
    }

    func arrive(events: [ReceivedEvent]) async throws {
        try await client.withTransaction { [handler] connection in
            try handler.apply(events, on: connection)
        }
    }

    /// Applies the receipt of a transaction that was signed again.
    func arriveSignedAgain(_ transaction: Transaction) async throws {
        let event = try ReceivedEvent.reissue(of: transaction)
        try await client.withTransaction { [handler] connection in
            try handler.apply([event], on: connection)
        }
    }

    /// Returns a handler of hosted contents.
    ///
    /// An upload renews its lease after `renewal`, which the test's clock does not affect.
    func contents(
        _ storage: any ContentStorage,
        renewal: Duration = .seconds(60)
    ) -> HostedContentHandler {
        HostedContentHandler(
            client: client,
            storage: storage,
            now: clock.now,
            machineNow: clock.machineNow,
            renewal: renewal
        )
    }

    /// Returns the end of the lease of the only upload under way.
    func uploadLeaseEnd() async throws -> StoreTime? {
        try await client.withConnection { connection in
            try connection.query("SELECT lease_ends_at FROM content_uploads").first?
                .decode(StoreTime.self)
        }
    }

    /// Counts the digests that are about to be kept, or are kept and not recorded.
    func contentUploads() async throws -> Int64? {
        try await client.withConnection { connection in
            try connection.query("SELECT count(*) FROM content_uploads").first?.decode(Int64.self)
        }
    }

    /// Finishes one transaction.
    @discardableResult
    func finish(_ number: Int64, from queue: QueueKey = .sample()) async throws -> FinishOutcome {
        let request = FinishRequest(transactionID: TransactionID(number: number), queue: queue)
        return try await finishing.finish([request])[0]
    }

    /// Moves the relay's place to the end, as if everything had been published.
    func markPublished() async throws {
        try await client.withTransaction { connection in
            try connection.execute(
                """
                UPDATE relay_place SET (xid, position) = (
                    SELECT xid, position FROM outbox ORDER BY xid DESC, position DESC LIMIT 1
                )
                """
            )
        }
    }

    /// Returns the published changes in order.
    func published() async throws -> [(type: EventType, change: QueueChanged)] {
        try await outbox().filter { $0.type != .deliveryConfirmed }
            .map { ($0.type, try $0.decode(QueueChanged.self)) }
    }

    /// Returns the events in the outbox after a position, as a consumer receives them.
    func outbox() async throws -> [ReceivedEvent] {
        try await client.withConnection { connection in
            try connection.query(
                """
                SELECT event_id, type, topic, key, subject, time, unpacked_json(data)::json
                FROM outbox ORDER BY position
                """
            ).map { row in
                let (id, type, topic, key, subject, time, data) = try row.decode(
                    EventID.self,
                    String.self,
                    String.self,
                    String.self,
                    String.self,
                    StoreTime.self,
                    PostgresJSON.self
                )
                return ReceivedEvent(
                    id: id,
                    type: EventType(rawValue: type),
                    topic: topic,
                    key: key,
                    subject: subject,
                    time: time,
                    data: data.bytes
                )
            }
        }
    }

    /// Returns the deliveries of a transaction, with target and state.
    func deliveries(of number: Int64) async throws -> [String] {
        try await client.withConnection { connection in
            try connection.query(
                """
                SELECT target || ' ' || state FROM deliveries WHERE transaction_id = \(number)
                ORDER BY target
                """
            ).map { try $0.decode(String.self) }
        }
    }

    /// Whether the service's role may run a statement.
    func isAllowed(_ statement: SQL) async throws -> Bool {
        do {
            _ = try await client.withTransaction { try $0.execute(statement) }
            return true
        } catch let error as PostgresError where error.code == .insufficientPrivilege {
            return false
        }
    }
}

/// Runs a test with a new database of `fulfillment`.
func withFulfillment<R>(
    poolSize: Int = 4,
    _ body: @Sendable @escaping (FulfillmentDatabase) async throws -> R
) async throws -> R where R: Sendable {
    try await withTestDatabase(migrations: FulfillmentMigrations.all) { database in
        try await database.withClient(role: "counterfoil_fulfillment", poolSize: poolSize) {
            client in
            try await body(FulfillmentDatabase(client: client))
        }
    }
}

extension QueuePublisher {
    /// Publishes to the log alone.
    static let toTheLog = QueuePublisher(pass: { _, _ in }, wakeRelay: {})
}
