import Postgres
import Testing
import TestSupport

/// Several queries in one round trip.
@Suite(.timeLimit(.minutes(10))) struct PostgresReadingTests {
    private static let table = PostgresMigration(
        name: "m0001_counters",
        sql: """
            CREATE TABLE counters (id bigint PRIMARY KEY, n bigint NOT NULL CHECK (n >= 0));
            INSERT INTO counters VALUES (1, 0), (2, 0);
            """
    )

    private func withCounters(
        _ body: (PostgresClient, TestDatabase) async throws -> Void
    ) async throws {
        try await withTestDatabase(migrations: [Self.table]) { database async throws in
            try await database.withClient(poolSize: 2) { client async throws in
                try await body(client, database)
            }
        }
    }

    @Test func eachHasItsOwnRowsAndSeesWhatWasEnqueued() async throws {
        try await withCounters { client, _ async throws in
            let (first, known, ids, second) = try await client.withTransaction { connection in
                try connection.enqueue("UPDATE counters SET n = id * 10")
                return try connection.read(
                    count(of: 1),
                    PostgresReading(known: "known"),
                    PostgresReading("SELECT id FROM counters ORDER BY id") { rows in
                        try rows.map { try $0.decode(Int64.self) }
                    },
                    count(of: 2)
                )
            }
            #expect(first == 10)
            #expect(known == "known")
            #expect(ids == [1, 2])
            #expect(second == 20)
        }
    }

    @Test func preparedOnesDoNotOvertakeWhatWasEnqueued() async throws {
        try await withCounters { client, _ async throws in
            // A session has prepared the queries after its first round, and sends them together.
            for round in 1...4 as ClosedRange<Int64> {
                let (first, second) = try await client.withTransaction { connection in
                    try connection.enqueue("UPDATE counters SET n = n + id")
                    return try connection.read(count(of: 1), count(of: 2))
                }
                #expect(first == round)
                #expect(second == 2 * round)
            }
        }
    }

    @Test func theSecondSeesWhatTheFirstHadToWaitFor() async throws {
        try await withCounters { client, database async throws in
            let isHeld = Counter()
            let isOver = Counter()
            let holding = Task {
                try await client.withTransaction { connection in
                    try connection.execute("UPDATE counters SET n = 5")
                    isHeld.raise()
                    while isOver.value == 0 {
                        try connection.execute("SELECT pg_sleep(0.01)")
                    }
                }
            }
            try await eventually("the rows to be locked") { isHeld.value > 0 ? () : nil }
            let reading = Task {
                try await client.withTransaction { connection in
                    try connection.read(count(of: 1, isLocking: true), count(of: 2))
                }
            }
            let name = database.name
            try await eventually("the first query to wait") {
                try await database.cluster.asSuperuser { connection in
                    try connection.query(
                        """
                        SELECT 1 FROM pg_stat_activity
                        WHERE datname = \(name) AND wait_event_type = 'Lock'
                        """
                    ).isEmpty ? nil : ()
                }
            }
            isOver.raise()
            try await holding.value
            let (first, second) = try await reading.value
            #expect(first == 5)
            #expect(second == 5)
        }
    }

    @Test func anErrorOfOneIsThrown() async throws {
        try await withCounters { client, _ async throws in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { connection in
                    _ = try connection.read(count(of: 1), count(of: 1, divisor: 0), count(of: 2))
                }
            }
            #expect(error?.code == .invalidData)
        }
    }

    @Test func outsideADatabaseTransactionTheyRunOneByOne() async throws {
        try await withCounters { client, _ async throws in
            let (first, second) = try await client.withConnection { connection in
                try connection.read(count(of: 1), count(of: 2))
            }
            #expect(first == 0)
            #expect(second == 0)
        }
    }
}

/// Reads a counter.
private func count(
    of id: Int64,
    isLocking: Bool = false,
    divisor: Int64 = 1
) -> PostgresReading<Int64?> {
    PostgresReading(
        """
        SELECT n / \(divisor) FROM counters WHERE id = \(id)
        \(unsafe: isLocking ? "FOR UPDATE" : "")
        """
    ) { rows in
        try rows.first?.decode(Int64.self)
    }
}
