import ClockAndIDs
import EventTypes
import Postgres
import Seals
import TestSupport

@testable import Messaging

/// A database with an outbox, and operations for tests.
struct SealedDatabase {
    /// 2025-11-30T23:59:00Z: a minute later begins another month.
    static let endOfNovember: Int64 = 1_764_547_140_000

    let database: TestDatabase
    /// A client with the rights of the database's owner.
    let client: PostgresClient

    /// Runs a body with a database that has the messaging tables.
    static func with(_ body: (SealedDatabase) async throws -> Void) async throws {
        let migrations = MessagingMigrations.all(role: "counterfoil_payments")
        try await withTestDatabase(migrations: migrations) { database in
            try await database.withClient(poolSize: 4) { client in
                try await body(SealedDatabase(database: database, client: client))
            }
        }
    }

    /// Appends events of an account, one second apart.
    func append(
        _ subjects: some Sequence<Int> & Sendable,
        from milliseconds: Int64 = endOfNovember,
        key: String = "ada"
    ) async throws {
        let events = subjects.map { number in
            let time = StoreTime(millisecondsSinceEpoch: milliseconds + Int64(number) * 1000)
            return OutboxEvent(
                id: EventID(time: time),
                type: .queueChanged,
                topic: Topics.fulfillmentTransactions,
                key: key,
                subject: "\(number)",
                time: time,
                data: Array(#"{"number":\#(number)}"#.utf8)
            )
        }
        try await client.withTransaction { connection in
            try Outbox.append(events, on: connection)
        }
    }

    /// Takes the lead of the relay, as the holder of its lock does.
    func takeLead(_ holder: LockHolder = LockHolder(mustMove: false)) async throws -> Lead {
        try await client.withConnection { connection in
            try LeadStore.take("relay", holder, on: connection)
        }
    }

    /// Seals all rows, in batches, and marks them as published, as the relay does.
    func seal(batch: Int = 10) async throws {
        let lead = try await takeLead()
        var heads = try await client.withConnection { connection in
            try SealStore.heads(of: "outbox", on: connection)
        }
        while true {
            let place = heads.sealed
            let rows = try await settled(after: place, limit: batch)
            guard let last = rows.last else { return }
            let seals = heads.seal(SealedRow.sealing(rows))
            try await client.withConnection { connection in
                try RelayStore.save(
                    RelayProgress(
                        published: last.place,
                        confirmed: .start,
                        epoch: 1,
                        lastOffsets: [:]
                    ),
                    by: lead,
                    touched: [],
                    seals: seals,
                    on: connection
                )
            }
        }
    }

    /// The rows after a place, once all of them are settled.
    ///
    /// Database transactions of other tests in the cluster may delay that.
    func settled(after place: LogPlace, limit: Int = 1000) async throws -> [OutboxRow] {
        try await eventually("the rows to settle") {
            try await client.withConnection { connection in
                let (rows, hasMore) = try RelayStore.nextRows(
                    after: place,
                    limit: limit,
                    on: connection
                )
                return rows.count == limit || !hasMore ? rows : nil
            }
        }
    }

    /// Executes a statement as the owner.
    func tamper(_ sql: SQL) async throws -> Int {
        try await client.withConnection { connection in try connection.execute(sql) }
    }

    /// Checks the seals in a snapshot.
    func check(_ expectations: [SealCheck.Expectation] = []) async throws -> SealReport {
        let settings = PostgresSettings(url: database.url, applicationName: "tests")
        return try await withSession(settings) { connection in
            try await connection.beginSnapshot()
            return try await SealCheck(logs: [.outbox], expectations: expectations)
                .run(on: connection)
        }
    }
}
