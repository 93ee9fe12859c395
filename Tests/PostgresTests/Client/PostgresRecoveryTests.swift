import Foundation
import Postgres
import Testing
import TestSupport

/// The pool when connections break, the server is unreachable, or too many callers want a
/// connection.
@Suite(.timeLimit(.minutes(10))) struct PostgresRecoveryTests {
    private func one(_ client: PostgresClient) async throws -> Int32 {
        try await client.withTransaction { connection in
            try connection.query("SELECT 1")[0].decode(Int32.self)
        }
    }

    @Test func aSessionTerminatedWhileIdleBothersNobody() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 2) { client async throws in
                for _ in 0..<5 {
                    #expect(try await one(client) == 1)
                    try await database.signal("%", by: "pg_terminate_backend")
                    #expect(try await one(client) == 1)
                }
            }
        }
    }

    @Test func aSessionTerminatedInABodyIsReplaced() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                for _ in 0..<3 {
                    let error = await #expect(throws: PostgresError.self) {
                        try await client.withConnection { connection in
                            try connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
                        }
                    }
                    #expect(error?.code == .connectionLost)
                    #expect(try await one(client) == 1)
                }
            }
        }
    }

    @Test func theClientOutlivesARestartOfTheServer() async throws {
        let directory = "/tmp/counterfoil-restart-\(UUID().uuidString.prefix(8))"
        let cluster = try PostgresCluster(directory: directory, isDurable: false)
        defer {
            try? FileManager.default.removeItem(atPath: directory)  // Temporary in any case.
        }
        try await cluster.start()
        try await cluster.createDatabase("shop")
        let settings = PostgresSettings(
            url: cluster.url(database: "shop"),
            applicationName: "tests",
            poolSize: 2,
            acquireTimeout: .seconds(20)
        )
        do {
            try await withRunningClient(settings) { client async throws in
                #expect(try await one(client) == 1)
                for mode in [PostgresCluster.StopMode.immediate, .fast] {
                    try cluster.stop(mode)
                    try await eventually("the client to notice") { client.isConnected ? nil : () }
                    let error = await #expect(throws: PostgresError.self) { try await one(client) }
                    #expect(error?.code == .connectFailed)
                    #expect(error?.isRetriable == true)
                    try await cluster.start()
                    try await eventually("the client to be back") { client.isConnected ? () : nil }
                    #expect(try await one(client) == 1)
                }
            }
        } catch {
            try cluster.stop(.immediate)
            throw error
        }
        try cluster.stop(.immediate)
    }

    @Test func aServerThatFallsSilentIsGivenUp() async throws {
        try await withTestDatabase { database async throws in
            let proxy = try await PostgresProxy.start(inFrontOf: database.cluster.port)
            let hold = proxy.hold(at: .beforeStatement(containing: "SELECT 777"))
            var settings = database.settings(through: proxy, poolSize: 1)
            settings.statementTimeout = .seconds(5)
            try await withRunningClient(settings) { client async throws in
                let error = await #expect(throws: PostgresError.self) {
                    try await client.withConnection { connection in
                        try connection.execute("SELECT 777")
                    }
                }
                #expect(error?.code == .connectionLost)
                hold.release()
                #expect(try await one(client) == 1)
            }
            await proxy.cut()
        }
    }

    @Test func aCallerWithoutAConnectionInTimeGetsAnError() async throws {
        try await withTestDatabase { database async throws in
            let settings = PostgresSettings(
                url: database.url,
                applicationName: "tests",
                poolSize: 1,
                acquireTimeout: .seconds(3)
            )
            try await withRunningClient(settings) { client async throws in
                try await eventually("the pool to be open") { client.isConnected ? () : nil }
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
                try await eventually("the connection to be taken") {
                    isIn.value > 0 ? () : nil
                }
                for _ in 0..<2 {
                    let error = await #expect(throws: PostgresError.self) { try await one(client) }
                    #expect(error?.code == .poolExhausted)
                }
                let waiter = Task { try await one(client) }
                waiter.cancel()
                await #expect(throws: CancellationError.self) { try await waiter.value }
                isOver.raise()
                try await holder.value
                #expect(try await one(client) == 1)
            }
        }
    }

    @Test func manyMoreCallersThanConnectionsAreAllServed() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 3) { client async throws in
                try await client.withConnection { connection in
                    try connection.execute("CREATE TABLE seen (n bigint PRIMARY KEY)")
                }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for n in 0..<500 as Range<Int64> {
                        group.addTask {
                            _ = try await client.withTransaction { connection in
                                try connection.execute("INSERT INTO seen VALUES (\(n))")
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                let count = try await client.withConnection { connection in
                    try connection.query("SELECT count(*) FROM seen")[0].decode(Int64.self)
                }
                #expect(count == 500)
            }
        }
    }

    @Test func anUnreachableServerIsReportedAsSuch() async throws {
        let settings = PostgresSettings(
            url: "postgres://nobody:secret@127.0.0.1:\(try freePort())/nothing",
            applicationName: "tests",
            acquireTimeout: .seconds(1)
        )
        try await withRunningClient(settings) { client async throws in
            let error = await #expect(throws: PostgresError.self) { try await one(client) }
            #expect(error?.code == .connectFailed)
            #expect(error?.isRetriable == true)
            #expect(!"\(String(describing: error))".contains("secret"))
            #expect(!client.isConnected)
        }
    }

    @Test func aClientThatWasShutDownRefuses() async throws {
        try await withTestDatabase { database async throws in
            let client = try await database.withClient { client async throws in
                #expect(try await one(client) == 1)
                return client
            }
            let error = await #expect(throws: PostgresError.self) { try await one(client) }
            #expect(error?.code == .shutDown)
        }
    }

    @Test func sessionsCarryTheirNameAndTimeouts() async throws {
        try await withTestDatabase { database async throws in
            let settings = PostgresSettings(
                url: database.url,
                applicationName: "tests-named",
                poolSize: 1,
                statementTimeout: .milliseconds(1500)
            )
            try await withRunningClient(settings) { client async throws in
                let shown = try await client.withConnection { connection in
                    let rows = try connection.query(
                        """
                        SELECT current_setting('application_name'),
                            current_setting('statement_timeout'),
                            current_setting('idle_in_transaction_session_timeout'),
                            current_setting('TimeZone')
                        """
                    )
                    let (a, b, c, d) = try rows[0].decode(
                        String.self,
                        String.self,
                        String.self,
                        String.self
                    )
                    return [a, b, c, d]
                }
                #expect(shown == ["tests-named", "1500ms", "1500ms", "UTC"])
            }
        }
    }
}
