import Postgres
import Testing
import TestSupport

/// Listening for notifications, also after the connection broke.
@Suite(.timeLimit(.minutes(10))) struct PostgresNotificationTests {
    @Test func aNotificationArrivesWithItsPayload() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                var events = client.notifications(on: ["orders", "Odd \"name\""])
                    .makeAsyncIterator()
                #expect(await events.next() == .listening)
                try await client.withTransaction { connection in
                    try connection.execute("SELECT pg_notify('orders', \("déjà vu"))")
                    try connection.execute("SELECT pg_notify(\("Odd \"name\""), '')")
                    try connection.execute("SELECT pg_notify('unheard', '')")
                }
                #expect(await events.next() == .notification(channel: "orders", payload: "déjà vu"))
                #expect(
                    await events.next() == .notification(channel: "Odd \"name\"", payload: "")
                )
            }
        }
    }

    @Test func aListenerThatLosesItsSessionListensAgainAndSaysSo() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                var events = client.notifications(on: ["orders"]).makeAsyncIterator()
                for _ in 0..<3 {
                    #expect(await events.next() == .listening)
                    try await client.withConnection { connection in
                        try connection.execute("SELECT pg_notify('orders', 'x')")
                    }
                    #expect(await events.next() == .notification(channel: "orders", payload: "x"))
                    // The session that was ended before may take a moment to go away.
                    try await eventually("one listener") {
                        try await database.sessions(like: "%LISTEN%") == 1 ? () : nil
                    }
                    #expect(try await database.signal("%LISTEN%", by: "pg_terminate_backend") == 1)
                }
            }
        }
    }

    /// This test waits for the interval of a listener's check, fifteen seconds.
    @Test func aListenerThatHearsNothingAsksItsServerAndListensOn() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                var events = client.notifications(on: ["orders"]).makeAsyncIterator()
                #expect(await events.next() == .listening)
                try await eventually("the listener to ask") {
                    try await database.sessions(like: "SELECT 'LISTEN'") == 1 ? () : nil
                }
                try await client.withConnection { connection in
                    try connection.execute("SELECT pg_notify('orders', 'x')")
                }
                #expect(await events.next() == .notification(channel: "orders", payload: "x"))
            }
        }
    }

    @Test func cancellingTheReaderEndsTheStreamAndTheSession() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                let reader = Task {
                    var count = 0
                    for await _ in client.notifications(on: ["orders"]) { count += 1 }
                    return count
                }
                try await eventually("a listener") {
                    try await database.sessions(like: "%LISTEN%") == 1 ? () : nil
                }
                reader.cancel()
                #expect(await reader.value <= 1)
                try await eventually("the listener to be gone") {
                    try await database.sessions(like: "%LISTEN%") == 0 ? () : nil
                }
            }
        }
    }
}

/// An advisory lock has one holder at a time.
@Suite(.timeLimit(.minutes(10))) struct PostgresAdvisoryLockTests {
    @Test func onlyOneHoldsTheLockAtATime() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                let occupancy = Occupancy()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            try await client.withAdvisoryLock(42) {
                                let entered = await occupancy.enter()
                                // The holder stays until all others have been refused the lock.
                                try await eventually("the others to be refused") {
                                    try await database.lockRefusals() == 4 - entered ? () : nil
                                }
                                await occupancy.leave()
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(await occupancy.total == 4)
                #expect(await occupancy.most == 1)
            }
        }
    }

    @Test func theLockIsFreeAsSoonAsTheBodyIsOver() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                var durations: [Duration] = []
                for round in 0..<5 {
                    let start = ContinuousClock.now
                    #expect(try await client.withAdvisoryLock(7) { round } == round)
                    durations.append(start.duration(to: .now))
                    let isFree = try await client.withTransaction { connection in
                        try connection.query("SELECT pg_try_advisory_xact_lock(7)")[0]
                            .decode(Bool.self)
                    }
                    #expect(isFree)
                }
                // A watch that noticed the end only at its next query would be two seconds late
                // each time.
                #expect(try #require(durations.min()) < .seconds(2))
            }
        }
    }

    @Test func losingTheSessionCancelsTheBodyAndIsReportedAsALoss() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                let occupancy = Occupancy()
                let holder = Task {
                    try await client.withAdvisoryLock(42) {
                        await occupancy.enter()
                        try await Task.sleep(for: .seconds(600))
                    }
                }
                try await eventually("the body to run") {
                    await occupancy.total == 1 ? () : nil
                }
                let start = ContinuousClock.now
                try await database.terminateLockHolders()
                let error = await #expect(throws: PostgresError.self) { try await holder.value }
                #expect(error?.code == .connectionLost)
                #expect(start.duration(to: .now) < .seconds(300))
            }
        }
    }

    @Test func aBodysErrorComesThroughAndACancellationEndsTheWait() async throws {
        struct Refusal: Error {}
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                await #expect(throws: Refusal.self) {
                    try await client.withAdvisoryLock(42) { throw Refusal() }
                }
                try await client.withAdvisoryLock(42) {
                    let waiter = Task { try await client.withAdvisoryLock(42) {} }
                    try await eventually("another to wait for the lock") {
                        try await database.sessions(like: "%pg_try_advisory_lock%") >= 1
                            ? () : nil
                    }
                    waiter.cancel()
                    await #expect(throws: CancellationError.self) { try await waiter.value }
                }
                let holder = Task {
                    try await client.withAdvisoryLock(42) {
                        try await Task.sleep(for: .seconds(600))
                    }
                }
                holder.cancel()
                await #expect(throws: CancellationError.self) { try await holder.value }
            }
        }
    }
}

/// Counts the tasks that are inside.
private actor Occupancy {
    private var inside = 0
    private(set) var most = 0
    private(set) var total: Int64 = 0

    /// Notes an entry, and returns the number of entries so far.
    @discardableResult
    func enter() -> Int64 {
        inside += 1
        total += 1
        most = max(most, inside)
        return total
    }

    func leave() { inside -= 1 }
}

extension TestDatabase {
    /// The number of sessions that have asked for an advisory lock and do not have it.
    fileprivate func lockRefusals() async throws -> Int64 {
        let name = name
        return try await cluster.asSuperuser { connection in
            try connection.query(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = \(name) AND query LIKE '%pg_try_advisory_lock(%'
                    AND pid NOT IN (
                        SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
                    )
                """
            )[0].decode(Int64.self)
        }
    }

    /// Ends the sessions that hold an advisory lock.
    fileprivate func terminateLockHolders() async throws {
        let name = name
        try await cluster.asSuperuser { connection in
            try connection.execute(
                """
                SELECT pg_terminate_backend(locks.pid)
                FROM pg_locks AS locks JOIN pg_stat_activity AS activity USING (pid)
                WHERE locktype = 'advisory' AND granted AND datname = \(name)
                """
            )
        }
    }
}
