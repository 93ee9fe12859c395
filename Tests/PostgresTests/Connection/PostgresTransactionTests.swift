import Dispatch
import Postgres
import Synchronization
import Testing
import TestSupport

/// The guarantees of a database transaction, both when it succeeds and when it fails.
@Suite(.timeLimit(.minutes(10))) struct PostgresTransactionTests {
    private struct Refusal: Error {}

    private static let table = PostgresMigration(
        name: "m0001_counters",
        sql: """
            CREATE TABLE counters (id bigint PRIMARY KEY, n bigint NOT NULL CHECK (n >= 0));
            INSERT INTO counters VALUES (1, 0), (2, 0);
            """
    )

    private func withCounters(
        poolSize: Int = 4,
        _ body: (PostgresClient, TestDatabase) async throws -> Void
    ) async throws {
        try await withTestDatabase(migrations: [Self.table]) { database async throws in
            try await database.withClient(poolSize: poolSize) { client async throws in
                try await body(client, database)
            }
        }
    }

    private func count(_ id: Int64, _ client: PostgresClient) async throws -> Int64? {
        try await client.withConnection { connection in
            try connection.query("SELECT n FROM counters WHERE id = \(id)").first?
                .decode(Int64.self)
        }
    }

    @Test func aBodyThatReturnsIsCommitted() async throws {
        try await withCounters { client, _ async throws in
            let changed = try await client.withTransaction { connection in
                try connection.execute("UPDATE counters SET n = n + 1")
            }
            #expect(changed == 2)
            #expect(try await count(1, client) == 1)
        }
    }

    @Test func aBodyThatThrowsIsRolledBackAndItsErrorComesThrough() async throws {
        try await withCounters(poolSize: 1) { client, _ async throws in
            await #expect(throws: Refusal.self) {
                try await client.withTransaction { connection in
                    try connection.execute("UPDATE counters SET n = 9")
                    throw Refusal()
                }
            }
            #expect(try await count(1, client) == 0)
        }
    }

    @Test func whatFollowsACommitIsCalledAfterItAndNotAfterARollback() async throws {
        try await withCounters(poolSize: 1) { client, _ async throws in
            let calls = Mutex<[String]>([])
            await #expect(throws: Refusal.self) {
                try await client.withTransaction { connection in
                    connection.afterCommit { calls.withLock { $0.append("rolled back") } }
                    throw Refusal()
                }
            }
            try await client.withTransaction { connection in
                try connection.execute("UPDATE counters SET n = n + 1")
                connection.afterCommit { calls.withLock { $0.append("first") } }
                connection.afterCommit { calls.withLock { $0.append("second") } }
                #expect(calls.withLock { $0 } == [])
            }
            #expect(calls.withLock { $0 } == ["first", "second"])
        }
    }

    @Test func aBodyThatGoesOnAfterAFailedStatementIsNotReportedAsCommitted() async throws {
        try await withCounters(poolSize: 1) { client, _ async throws in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { connection in
                    try connection.execute("UPDATE counters SET n = 5 WHERE id = 1")
                    // The error is ignored on purpose: this is the mistake under test.
                    _ = try? connection.execute("UPDATE counters SET n = -1 WHERE id = 2")
                }
            }
            #expect(error?.code == .transactionAborted)
            #expect(try await count(1, client) == 0)
        }
    }

    @Test func aSerializationFailureRunsTheBodyAgain() async throws {
        try await withCounters(poolSize: 8) { client, _ async throws in
            let runs = Counter()
            let barrier = Counter()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        try await client.withTransaction { connection in
                            runs.raise()
                            try connection.execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
                            let n = try connection.query("SELECT n FROM counters WHERE id = 1")[0]
                                .decode(Int64.self)
                            barrier.raise()
                            // Both have read before either writes, at least in the first attempt.
                            while barrier.value < 2 {
                                try connection.execute("SELECT pg_sleep(0.005)")
                            }
                            try connection.execute(
                                "UPDATE counters SET n = \(n + 1) WHERE id = 1"
                            )
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await count(1, client) == 2)
            #expect(runs.value >= 3)
        }
    }

    @Test func aDeadlockRunsItsVictimAgain() async throws {
        try await withCounters(poolSize: 8) { client, _ async throws in
            let barrier = Counter()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for order in [[1, 2], [2, 1]] as [[Int64]] {
                    group.addTask {
                        try await client.withTransaction { connection in
                            try connection.execute(
                                "UPDATE counters SET n = n + 1 WHERE id = \(order[0])"
                            )
                            barrier.raise()
                            while barrier.value < 2 {
                                try connection.execute("SELECT pg_sleep(0.005)")
                            }
                            try connection.execute(
                                "UPDATE counters SET n = n + 1 WHERE id = \(order[1])"
                            )
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await count(1, client) == 2)
            #expect(try await count(2, client) == 2)
        }
    }

    @Test func aFailureThatComesBackEveryTimeIsReportedAfterThreeRetries() async throws {
        try await withCounters(poolSize: 1) { client, _ async throws in
            let runs = Counter()
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { connection in
                    runs.raise()
                    try connection.execute(
                        "DO $$ BEGIN RAISE SQLSTATE '40001' USING MESSAGE = 'again'; END $$"
                    )
                }
            }
            #expect(error?.code == .serializationFailure)
            #expect(error?.isRetriable == true)
            #expect(runs.value == 4)
        }
    }

    @Test func aTableThatChangesUnderAPreparedStatementBothersNobody() async throws {
        try await withCounters(poolSize: 1) { client, _ async throws in
            @Sendable func read() async throws -> Int {
                try await client.withTransaction { connection in
                    try connection.query("SELECT * FROM counters").count
                }
            }
            #expect(try await read() == 2)
            try await client.withConnection { connection in
                try connection.execute("ALTER TABLE counters ADD COLUMN more text")
            }
            #expect(try await read() == 2)
        }
    }

    @Test func aStatementThatTakesTooLongIsEndedByTheServer() async throws {
        try await withTestDatabase { database async throws in
            let settings = PostgresSettings(
                url: database.url,
                applicationName: "tests",
                poolSize: 1,
                statementTimeout: .seconds(5)
            )
            try await withRunningClient(settings) { client async throws in
                let error = await #expect(throws: PostgresError.self) {
                    try await client.withTransaction { connection in
                        try connection.execute("SELECT pg_sleep(30)")
                    }
                }
                #expect(error?.code == .statementTimeout)
                #expect(error?.sqlState == "57014")
                let one = try await client.withConnection { connection in
                    try connection.query("SELECT 1")[0].decode(Int32.self)
                }
                #expect(one == 1)
            }
        }
    }

    @Test func cancellingTheTaskCancelsTheStatementAndRollsBack() async throws {
        try await withCounters(poolSize: 1) { client, database async throws in
            let task = Task {
                try await client.withTransaction { connection in
                    try connection.execute("UPDATE counters SET n = 7 WHERE id = 1")
                    try connection.execute("SELECT pg_sleep(60)")
                }
            }
            try await eventually("the statement to be running") {
                try await database.isRunning("SELECT pg_sleep(60)") ? () : nil
            }
            let start = ContinuousClock.now
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(start.duration(to: .now) < .seconds(30))
            // The only connection is usable, and no later caller is affected by the late
            // cancellation.
            for _ in 0..<20 {
                #expect(try await count(1, client) == 0)
            }
        }
    }

    @Test func aTaskCancelledBetweenStatementsDoesNotCommit() async throws {
        try await withCounters(poolSize: 1) { client, _ async throws in
            let isIn = Counter()
            let goOn = DispatchSemaphore(value: 0)
            let task = Task {
                try await client.withTransaction { connection in
                    try connection.execute("UPDATE counters SET n = 7 WHERE id = 1")
                    isIn.raise()
                    goOn.wait()
                }
            }
            try await eventually("the body to have begun") { isIn.value > 0 ? () : nil }
            task.cancel()
            goOn.signal()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await count(1, client) == 0)
        }
    }

    @Test func aStatementCancelledFromOutsideIsReportedAsCancelled() async throws {
        try await withCounters(poolSize: 1) { client, database async throws in
            let task = Task {
                try await client.withConnection { connection in
                    try connection.execute("SELECT pg_sleep(61)")
                }
            }
            try await eventually("the statement to be running") {
                try await database.isRunning("SELECT pg_sleep(61)") ? () : nil
            }
            try await database.signal("SELECT pg_sleep(61)", by: "pg_cancel_backend")
            let error = await #expect(throws: PostgresError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }
    }

    @Test func aLostAnswerToCommitIsAnUnknownOutcome() async throws {
        try await withCounters(poolSize: 1) { direct, database async throws in
            let proxy = try await PostgresProxy.start(inFrontOf: database.cluster.port)
            try await withRunningClient(database.settings(through: proxy, poolSize: 1)) {
                client async throws in
                let hold = proxy.hold(at: .afterCommit(ofTransactionWith: "UPDATE counters"))
                let task = Task {
                    try await client.withTransaction { connection in
                        try connection.execute("UPDATE counters SET n = 3 WHERE id = 1")
                    }
                }
                try await hold.reached()
                await proxy.cut()
                let error = await #expect(throws: PostgresError.self) { try await task.value }
                #expect(error?.code == .commitOutcomeUnknown)
                #expect(error?.isRetriable == false)
                #expect(try await count(1, direct) == 3)
            }
            await proxy.cut()
        }
    }

    @Test func aConnectionLostInTheBodyHasCertainlyNotCommitted() async throws {
        try await withCounters(poolSize: 1) { client, database async throws in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { connection in
                    try connection.execute("UPDATE counters SET n = 3 WHERE id = 1")
                    try connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
                }
            }
            #expect(error?.code == .connectionLost)
            #expect(error?.isRetriable == true)
            #expect(try await count(1, client) == 0)
        }
    }

    @Test func aDatabaseTransactionLeftOpenIsRolledBack() async throws {
        try await withCounters(poolSize: 1) { client, _ async throws in
            try await client.withConnection { connection in
                try connection.execute("BEGIN")
                try connection.execute("UPDATE counters SET n = 3")
            }
            #expect(try await count(1, client) == 0)
        }
    }

    @Test func moreStatementsThanStayPreparedWork() async throws {
        try await withCounters(poolSize: 1) { client, _ async throws in
            for round in 0..<2 {
                let sum = try await client.withTransaction { connection in
                    var sum: Int32 = 0
                    for n in 0..<300 {
                        sum += try connection.query("SELECT 1 AS c\(unsafe: "\(n)")")[0]
                            .decode(Int32.self)
                    }
                    return sum
                }
                #expect(sum == 300, "round \(round)")
            }
            let prepared = try await client.withConnection { connection in
                try connection.query("SELECT count(*) FROM pg_prepared_statements")[0]
                    .decode(Int64.self)
            }
            #expect(prepared <= 257)
        }
    }
}
