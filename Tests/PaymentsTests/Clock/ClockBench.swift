import EventTypes
import Logging
import Messaging
import Postgres
import StoreTracing
import TestSupport

@testable import Payments

/// The store's clock in a database, as one instance of `payments` has it.
struct ClockBench: Sendable {
    let client: PostgresClient
    let process: ProcessClock
    let handler: ClockHandler

    init(client: PostgresClient) {
        self.client = client
        process = ProcessClock(client: client)
        handler = ClockHandler(
            client: client,
            clock: process,
            machineNow: { client.machineTime },
            didCommit: {}
        )
    }

    func perform(
        _ command: ClockCommand
    ) async throws -> Result<ClockHandler.Reply, ClockRefusal> {
        try await handler.perform(command, end: StoreClock.last, trace: .begin())
    }

    func advance(
        _ amount: ClockAdvance.Amount,
        _ key: IdempotencyKey,
        end: StoreTime = StoreClock.last
    ) async throws -> Result<ClockHandler.Reply, ClockRefusal> {
        try await handler.advance(amount, key: key, end: end, trace: .begin())
    }

    func keeper(
        _ environment: StoreEnvironment = .sandbox,
        works: [DueWorkQueue] = [],
        end: StoreTime? = StoreClock.last
    ) -> ClockKeeper {
        var handler = handler
        handler.works = works
        return ClockKeeper(
            handler: handler,
            environment: environment,
            end: { end },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    /// The clock as an administrator reads it, with the work that it waits for.
    func read(_ works: [DueWorkQueue]) async throws -> ClockHandler.Reply {
        var handler = handler
        handler.works = works
        return try await handler.read()
    }

    /// The changes in the outbox, in order.
    func events() async throws -> [ClockChanged] {
        try await client.withConnection { connection in
            try connection.query(
                """
                SELECT unpacked_json(data)::json FROM outbox WHERE type = \(EventType.clockChanged.rawValue)
                ORDER BY position
                """
            ).map { row in
                try EventCoding.decode(ClockChanged.self, from: row.decode(PostgresJSON.self).bytes)
            }
        }
    }

    /// The times of the events about a transaction, in order.
    func times(of id: TransactionID) async throws -> [StoreTime] {
        try await client.withConnection { connection in
            try connection.query(
                "SELECT time FROM outbox WHERE subject = \(id.rawValue) ORDER BY position"
            ).map { try $0.decode(StoreTime.self) }
        }
    }
}

/// Runs a body with the clock of a new store.
func withClock(_ body: @Sendable (ClockBench) async throws -> Void) async throws {
    try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
        try await database.withClient(role: PaymentsMigrations.role) { client in
            try await body(ClockBench(client: client))
        }
    }
}
