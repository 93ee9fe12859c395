import Foundation
import Postgres
import Testing
import TestSupport

/// No use of the database takes longer than the request's budget.
@Suite(.timeLimit(.minutes(10))) struct PostgresWaitBudgetTests {
    /// The extra time that a machine busy with other tests may need.
    ///
    /// Without a budget each of the uses would take half a minute or longer.
    private static let slack = Duration.seconds(25)

    /// The error of a body that must fail within its budget.
    private func failure(
        within limit: Duration,
        _ body: () async throws -> Void
    ) async -> PostgresError? {
        let start = ContinuousClock.now
        let error = await PostgresWaitBudget.$current.withValue(PostgresWaitBudget(limit)) {
            await #expect(throws: PostgresError.self) { try await body() }
        }
        #expect(start.duration(to: .now) < limit + Self.slack)
        return error
    }

    private func process(of client: PostgresClient) async throws -> Int32 {
        try await client.withConnection { connection in
            try connection.query("SELECT pg_backend_pid()")[0].decode(Int32.self)
        }
    }

    @Test func aSlowStatementIsCancelledAndItsConnectionGoesOn() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                let before = try await process(of: client)
                let error = await failure(within: .seconds(1)) {
                    try await client.withTransaction { connection in
                        _ = try connection.execute("SELECT pg_sleep(62)")
                    }
                }
                #expect(error?.code == .statementTimeout)
                #expect(error?.isRetriable == true)
                #expect(try await !database.isRunning("SELECT pg_sleep(62)"))
                #expect(try await process(of: client) == before)
            }
        }
    }

    @Test func aServerThatSaysNothingIsGivenUpInTime() async throws {
        try await withTestDatabase { database async throws in
            let proxy = try await PostgresProxy.start(inFrontOf: database.cluster.port)
            let settings = database.settings(through: proxy, poolSize: 1)
            try await withRunningClient(settings) { client async throws in
                let before = try await process(of: client)
                let hold = proxy.hold(at: .beforeStatement(containing: "SELECT 778"))
                let error = await failure(within: .seconds(1)) {
                    try await client.withConnection { connection in
                        _ = try connection.execute("SELECT 778")
                    }
                }
                #expect(error?.code == .connectionLost)
                hold.release()
                #expect(try await process(of: client) != before, "It is replaced.")
            }
            await proxy.cut()
        }
    }

    @Test func aCommitThatIsNotAnsweredInTimeIsAnUnknownOutcome() async throws {
        try await withTestDatabase { database async throws in
            let proxy = try await PostgresProxy.start(inFrontOf: database.cluster.port)
            let settings = database.settings(through: proxy, poolSize: 1)
            try await withRunningClient(settings) { client async throws in
                try await client.withConnection { connection in
                    try connection.execute("CREATE TABLE seen (n int)")
                }
                let hold = proxy.hold(at: .afterCommit(ofTransactionWith: "INTO seen"))
                let error = await failure(within: .seconds(1)) {
                    try await client.withTransaction { connection in
                        _ = try connection.execute("INSERT INTO seen VALUES (1)")
                    }
                }
                #expect(error?.code == .commitOutcomeUnknown)
                #expect(error?.isOutcomeUnknown == true)
                hold.release()
            }
            await proxy.cut()
        }
    }

    @Test func theWaitForAConnectionCountsToo() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                let isIn = Counter()
                let isOver = Counter()
                let holder = Task {
                    try await client.withConnection { connection in
                        isIn.raise()
                        while isOver.value == 0 {
                            try connection.execute("SELECT pg_sleep(0.01)")
                        }
                    }
                }
                try await eventually("the connection to be taken") { isIn.value > 0 ? () : nil }
                // The caller waits behind another that has a minute.
                let patient = Task { try await process(of: client) }
                let error = await failure(within: .milliseconds(500)) {
                    _ = try await process(of: client)
                }
                #expect(error?.code == .poolExhausted)
                isOver.raise()
                try await holder.value
                _ = try await patient.value
            }
        }
    }

    @Test func oneBudgetIsForAllThatARequestDoes() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                let error = await failure(within: .seconds(1)) {
                    for _ in 0..<100 {
                        try await client.withConnection { connection in
                            try connection.execute("SELECT pg_sleep(0.3)")
                        }
                    }
                }
                #expect(error?.isRetriable == true)
            }
        }
    }

    @Test func aFrozenServerIsGivenUpInTimeAndUsedAgainAfterwards() async throws {
        let directory = "/tmp/counterfoil-frozen-\(UUID().uuidString.prefix(8))"
        let cluster = try PostgresCluster(directory: directory, isDurable: false)
        defer {
            try? FileManager.default.removeItem(atPath: directory)  // Temporary in any case.
        }
        try await cluster.start()
        defer {
            // The server is stopped whatever the result of the test is; a frozen server would
            // otherwise outlive it.
            try? cluster.thaw()
            try? cluster.stop(.immediate)
        }
        let settings = PostgresSettings(
            url: cluster.url(database: "postgres", role: "postgres"),
            applicationName: "tests",
            poolSize: 1,
            acquireTimeout: PostgresCluster.patience
        )
        try await withRunningClient(settings) { client async throws in
            let before = try await process(of: client)
            try cluster.freeze()
            for _ in 0..<2 {
                let error = await failure(within: .seconds(1)) {
                    _ = try await process(of: client)
                }
                #expect(error?.isRetriable == true)
            }
            try cluster.thaw()
            #expect(try await process(of: client) != before)
        }
    }
}
