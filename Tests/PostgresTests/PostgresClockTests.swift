import Synchronization
import TestSupport
import Testing

@testable import Postgres

/// The database's time on a machine whose own clock is wrong.
@Suite(.timeLimit(.minutes(10))) struct PostgresClockTests {
    @Test(arguments: [86_400, -86_400, 0] as [Int64])
    func theTimeIsTheDatabases(ahead seconds: Int64) async throws {
        let machine = MachineClock(ahead: seconds)
        try await withTestDatabase { database async throws in
            try await database.withClient(machineClock: machine.now) { client async throws in
                let difference = try await client.withConnection { connection in
                    let rows = try connection.query("SELECT clock_timestamp()")
                    let server = try rows[0].decode(PostgresTimestamp.self)
                    return client.clock.now.microsecondsSinceEpoch - server.microsecondsSinceEpoch
                }
                #expect(abs(difference) < 5_000_000)
                let seen = try #require(client.clock.difference)
                #expect(abs(seen / .seconds(1) - Double(seconds)) < 5)
                #expect((client.clock.problem == nil) == (seconds == 0))
                // After a change while the process runs, the clock is judged by its new setting at
                // once.
                machine.set(ahead: seconds == 0 ? 86_400 : 0)
                #expect((client.clock.problem == nil) == (seconds != 0))
            }
        }
    }

    @Test func whatIsWrongIsSaidInSeconds() throws {
        let machine = Mutex(PostgresTimestamp(microsecondsSinceEpoch: 0))
        let clock = PostgresClock(machine: { machine.withLock { $0 } })
        #expect(clock.problem == "the database's time is not known yet")
        let instant = ContinuousClock.now
        let still = PostgresClock(machine: { machine.withLock { $0 } }, instant: { instant })
        still.read { PostgresTimestamp(microsecondsSinceEpoch: 100_000_000) }
        #expect(
            still.problem == "this machine's clock is 100 s behind the database's; set it"
        )
        machine.withLock { $0 = PostgresTimestamp(microsecondsSinceEpoch: 131_000_000) }
        #expect(
            still.problem == "this machine's clock is 31 s ahead of the database's; set it"
        )
        machine.withLock { $0 = PostgresTimestamp(microsecondsSinceEpoch: 130_000_000) }
        #expect(still.problem == nil)
    }

    @Test func aReadingIsOfTheMiddleAndGoesOn() throws {
        let start = ContinuousClock.now
        let instant = Mutex(start)
        let clock = PostgresClock(
            machine: { PostgresTimestamp(microsecondsSinceEpoch: 0) },
            instant: { instant.withLock { $0 } }
        )
        #expect(clock.isDue)
        clock.read {
            instant.withLock { $0 = start + .seconds(2) }
            return PostgresTimestamp(microsecondsSinceEpoch: 50_000_000)
        }
        #expect(!clock.isDue)
        #expect(clock.now.microsecondsSinceEpoch == 51_000_000)
        instant.withLock { $0 = start + .seconds(12) }
        #expect(clock.isDue)
        #expect(clock.now.microsecondsSinceEpoch == 61_000_000)
    }
}
