import Dispatch
import Postgres
import Testing
import TestSupport

/// The guarantees of enqueued statements, which the server gets together with the next one.
@Suite(.timeLimit(.minutes(10))) struct PostgresPipelineTests {
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
            try await database.withClient(poolSize: 1) { client async throws in
                try await body(client, database)
            }
        }
    }

    private func counts(_ client: PostgresClient) async throws -> [Int64] {
        try await client.withConnection { connection in
            try connection.query("SELECT n FROM counters ORDER BY id").map {
                try $0.decode(Int64.self)
            }
        }
    }

    private func process(of client: PostgresClient) async throws -> Int32 {
        try await client.withConnection { connection in
            try connection.query("SELECT pg_backend_pid()")[0].decode(Int32.self)
        }
    }

    @Test func theyTakeEffectInOrderAndBeforeTheNextStatement() async throws {
        try await withCounters { client, _ async throws in
            let seen = try await client.withTransaction { connection in
                try connection.enqueue("UPDATE counters SET n = n + 1 WHERE id = 1")
                try connection.enqueue("UPDATE counters SET n = n * 5 WHERE id = 1")
                let seen = try connection.query("SELECT n FROM counters WHERE id = 1")[0]
                    .decode(Int64.self)
                try connection.enqueue("UPDATE counters SET n = n + 1 WHERE id = 2")
                try connection.enqueue("UPDATE counters SET n = n + 1 WHERE id = 2")
                return seen
            }
            #expect(seen == 5)
            #expect(try await counts(client) == [5, 2])
        }
    }

    @Test func aPreparedQueryDoesNotOvertakeThem() async throws {
        try await withCounters { client, _ async throws in
            // The session has prepared the query after the first round, and sends it with them.
            for round in 1...3 as ClosedRange<Int64> {
                let seen = try await client.withTransaction { connection in
                    try connection.enqueue("UPDATE counters SET n = n + 1 WHERE id = 1")
                    return try connection.query("SELECT n FROM counters WHERE id = 1")[0]
                        .decode(Int64.self)
                }
                #expect(seen == round)
            }
        }
    }

    @Test func afterAnErrorNothingIsCommitted() async throws {
        try await withCounters { client, _ async throws in
            for _ in 0..<2 {
                let error = await #expect(throws: PostgresError.self) {
                    try await client.withTransaction { connection in
                        try connection.enqueue("UPDATE counters SET n = n + 1 WHERE id = 1")
                        try connection.enqueue("UPDATE counters SET n = -1 WHERE id = 2")
                        try connection.enqueue("UPDATE counters SET n = n + 1 WHERE id = 1")
                    }
                }
                #expect(error?.code == .checkViolation)
            }
            #expect(try await counts(client) == [0, 0])
        }
    }

    @Test func theNextStatementThrowsTheirError() async throws {
        try await withCounters { client, _ async throws in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { connection in
                    try connection.enqueue("UPDATE counters SET n = -1 WHERE id = 2")
                    let error = #expect(throws: PostgresError.self) {
                        try connection.execute("UPDATE counters SET n = 1 WHERE id = 1")
                    }
                    #expect(error?.code == .checkViolation)
                    // The error is ignored on purpose: this is the mistake under test.
                    try connection.enqueue("UPDATE counters SET n = 3 WHERE id = 1")
                }
            }
            #expect(error?.code == .transactionAborted)
            #expect(try await counts(client) == [0, 0])
        }
    }

    @Test func aBodyThatThrowsHasWrittenNothing() async throws {
        struct Refusal: Error {}
        try await withCounters { client, _ async throws in
            await #expect(throws: Refusal.self) {
                try await client.withTransaction { connection in
                    try connection.enqueue("UPDATE counters SET n = 1")
                    throw Refusal()
                }
            }
            try await client.withTransaction { connection in
                try connection.enqueue("UPDATE counters SET n = n + 1 WHERE id = 2")
            }
            #expect(try await counts(client) == [0, 1])
        }
    }

    @Test func outsideADatabaseTransactionTheyRunAtOnce() async throws {
        try await withCounters { client, _ async throws in
            try await client.withConnection { connection in
                try connection.enqueue("UPDATE counters SET n = 4")
            }
            #expect(try await counts(client) == [4, 4])
        }
    }

    @Test func aStalePlanAmongThemBothersNobody() async throws {
        try await withCounters { client, _ async throws in
            @Sendable func raise() async throws {
                try await client.withTransaction { connection in
                    try connection.enqueue("UPDATE counters SET n = n + 1")
                    try connection.enqueue("UPDATE counters SET n = n + 1 RETURNING *")
                }
            }
            try await raise()
            try await client.withConnection { connection in
                try connection.execute("ALTER TABLE counters ADD COLUMN more text")
            }
            try await raise()
            #expect(try await counts(client) == [4, 4])
        }
    }

    @Test func cancellingTheTaskCancelsThemAndTheirCommit() async throws {
        try await withCounters { client, database async throws in
            let task = Task {
                try await client.withTransaction { connection in
                    try connection.enqueue("UPDATE counters SET n = 7 WHERE id = 1")
                    try connection.enqueue("SELECT pg_sleep(62)")
                }
            }
            try await eventually("the statement to be running") {
                try await database.isRunning("SELECT pg_sleep(62)") ? () : nil
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            for _ in 0..<20 {
                #expect(try await counts(client) == [0, 0])
            }
        }
    }

    @Test func aLostAnswerToTheirCommitIsAnUnknownOutcome() async throws {
        try await withCounters { direct, database async throws in
            let proxy = try await PostgresProxy.start(inFrontOf: database.cluster.port)
            try await withRunningClient(database.settings(through: proxy, poolSize: 1)) {
                client async throws in
                let hold = proxy.hold(at: .afterCommit(ofTransactionWith: "UPDATE counters"))
                let task = Task {
                    try await client.withTransaction { connection in
                        try connection.enqueue("UPDATE counters SET n = 3 WHERE id = 1")
                    }
                }
                try await hold.reached()
                await proxy.cut()
                let error = await #expect(throws: PostgresError.self) { try await task.value }
                #expect(error?.code == .commitOutcomeUnknown)
                #expect(try await counts(direct) == [3, 0])
            }
            await proxy.cut()
        }
    }

    @Test func manyLargeOnesDoNotBlock() async throws {
        try await withCounters { client, _ async throws in
            let text = String(repeating: "x", count: 100_000)
            let rows = try await client.withTransaction { connection in
                for _ in 0..<200 {
                    try connection.enqueue("SELECT \(text) FROM counters")
                }
                return try connection.query("SELECT n FROM counters").count
            }
            #expect(rows == 2)
        }
    }

    @Test func aBudgetEndsLargeOnesThatWaitForALock() async throws {
        try await withCounters { holder, database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                let text = String(repeating: "x", count: 100_000)
                @Sendable func raise(andSelect count: Int) async throws {
                    try await client.withTransaction { connection in
                        try connection.enqueue("UPDATE counters SET n = 1 WHERE id = 1")
                        for _ in 0..<count {
                            try connection.enqueue("SELECT \(text) FROM counters")
                        }
                    }
                }
                // The session has the statements prepared afterwards, and may send all together.
                try await raise(andSelect: 1)
                let before = try await process(of: client)
                let isHeld = Counter()
                let isOver = Counter()
                let holding = Task {
                    try await holder.withTransaction { connection in
                        try connection.execute("UPDATE counters SET n = n WHERE id = 1")
                        isHeld.raise()
                        while isOver.value == 0 {
                            try connection.execute("SELECT pg_sleep(0.01)")
                        }
                    }
                }
                try await eventually("the row to be locked") { isHeld.value > 0 ? () : nil }
                let budget = PostgresWaitBudget(.seconds(2))
                let error = await PostgresWaitBudget.$current.withValue(budget) {
                    await #expect(throws: PostgresError.self) { try await raise(andSelect: 100) }
                }
                isOver.raise()
                try await holding.value
                #expect(error?.code == .statementTimeout)
                #expect(try await process(of: client) == before, "The session goes on.")
            }
        }
    }

    @Test func theStatementTimeoutIsForEachOfThem() async throws {
        try await withTestDatabase { database async throws in
            let settings = PostgresSettings(
                url: database.url,
                applicationName: "tests",
                poolSize: 1,
                statementTimeout: .seconds(5)
            )
            try await withRunningClient(settings) { client async throws in
                // Together they take longer than the client waits for one.
                try await client.withTransaction { connection in
                    for _ in 0..<21 { try connection.enqueue("SELECT pg_sleep(0.5)") }
                }
            }
        }
    }

    @Test func aSessionThatTheServerEndsAmongThemHasNotCommitted() async throws {
        try await withCounters { client, _ async throws in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { connection in
                    try connection.enqueue("UPDATE counters SET n = 3 WHERE id = 1")
                    try connection.enqueue("SELECT pg_terminate_backend(pg_backend_pid())")
                }
            }
            #expect(error?.code == .connectionLost)
            #expect(error?.isRetriable == true)
            #expect(try await counts(client) == [0, 0])
        }
    }

    @Test func aConnectionLostBeforeTheyAreSentBothersNobody() async throws {
        try await withCounters { client, database async throws in
            let runs = Counter()
            let goOn = DispatchSemaphore(value: 0)
            @Sendable func raise() async throws {
                try await client.withTransaction { connection in
                    try connection.enqueue("UPDATE counters SET n = n + 1")
                    runs.raise()
                    if runs.value == 2 { goOn.wait() }
                }
            }
            // The session has the statement prepared afterwards.
            try await raise()
            let id = try await process(of: client)
            let task = Task { try await raise() }
            try await eventually("the body to have begun") { runs.value == 2 ? () : nil }
            try await eventually("the session to have ended") {
                try await database.cluster.asSuperuser { connection in
                    _ = try connection.query("SELECT pg_terminate_backend(\(id))")
                    return try connection.query("SELECT 1 FROM pg_stat_activity WHERE pid = \(id)")
                        .isEmpty ? () : nil
                }
            }
            goOn.signal()
            try await task.value
            #expect(runs.value == 3)
            #expect(try await counts(client) == [2, 2])
        }
    }

    @Test func aBodyThatGoesOnWithoutItsBeginWritesNothing() async throws {
        try await withCounters { client, database async throws in
            let settings = PostgresSettings(url: database.url, applicationName: "tests")
            try await withSession(settings) { connection in
                // BEGIN fails in a database transaction that has failed.
                try await connection.beginSnapshot()
                await #expect(throws: PostgresError.self) {
                    try await connection.execute("SELECT 1 / 0")
                }
                let error = await #expect(throws: PostgresError.self) {
                    try await connection.inTransaction { connection in
                        // The errors are ignored on purpose: this is the mistake under test.
                        _ = try? connection.execute("SELECT 1")
                        _ = try? connection.execute("ROLLBACK")
                        _ = try? connection.execute("UPDATE counters SET n = 7")
                    }
                }
                #expect(error?.code == .transactionAborted)
            }
            #expect(try await counts(client) == [0, 0])
        }
    }

    @Test func copyInADatabaseTransactionIsRefused() async throws {
        try await withCounters { client, _ async throws in
            for command in ["COPY counters FROM STDIN", "COPY counters TO STDOUT"] {
                // The first time it is prepared and sent alone, the second time in a pipeline.
                for _ in 0..<2 {
                    let error = await #expect(throws: PostgresError.self) {
                        try await client.withTransaction { connection in
                            try connection.execute("\(unsafe: command)")
                        }
                    }
                    #expect(error?.code == .server)
                    #expect(error?.description.contains("COPY") == true)
                }
            }
            #expect(try await counts(client) == [0, 0])
        }
    }

    @Test func copyIsRefusedAmongThem() async throws {
        try await withCounters { client, _ async throws in
            let copy: SQL = "COPY counters FROM STDIN"
            _ = try? await client.withTransaction { try $0.execute(copy) }  // It is prepared now.
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { connection in
                    try connection.enqueue("UPDATE counters SET n = 1")
                    try connection.enqueue(copy)
                }
            }
            // The session was closed, and nobody has seen an answer to COMMIT.
            #expect(error?.code == .commitOutcomeUnknown)
            #expect(try await counts(client) == [0, 0])
        }
    }
}
