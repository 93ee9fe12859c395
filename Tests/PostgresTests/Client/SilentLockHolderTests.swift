import Dispatch
import Postgres
import Testing
import TestSupport

/// A holder of an advisory lock that neither ends nor makes progress.
///
/// Each test waits until a silent holder loses the lock, eleven seconds.
@Suite(.timeLimit(.minutes(10))) struct SilentLockHolderTests {
    /// The longest time until another takes the lock.
    ///
    /// The store promises 15 seconds. The rest is for a machine that is busy with other tests, or
    /// stands still; a holder that does not lose the lock keeps it for a minute.
    private static let bound = Duration.seconds(45)

    @Test func aHolderThatSaysNothingLosesTheLock() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                let wakesUp = DispatchSemaphore(value: 0)
                let (isTaken, taken) = AsyncStream.makeStream(of: Void.self)
                let silent = Task {
                    // The session's thread is blocked, like all threads of a stopped process; the
                    // kernel goes on answering for it.
                    try await client.withAdvisoryLock(42, LockHolder()) { _ in
                        taken.finish()
                        wakesUp.wait()
                    } _: { _ in
                        try await Task.sleep(for: .seconds(60))
                    }
                }
                for await _ in isTaken {}
                let start = ContinuousClock.now
                try await client.withAdvisoryLock(42) {}
                #expect(start.duration(to: .now) < Self.bound)
                wakesUp.signal()
                let error = await #expect(throws: PostgresError.self) { try await silent.value }
                #expect(error?.code == .connectionLost)
            }
        }
    }

    @Test func aHolderWhoseWorkHangsLosesTheLock() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                let (end, ending) = AsyncStream.makeStream(of: Void.self)
                let (isTaken, taken) = AsyncStream.makeStream(of: Void.self)
                let hanging = Task {
                    try await client.withAdvisoryLock(42, LockHolder(), { _ in }) { _ in
                        taken.finish()
                        // The task ignores its cancellation, like a thread in a library.
                        await Task { for await _ in end {} }.value
                    }
                }
                for await _ in isTaken {}
                let start = ContinuousClock.now
                try await client.withAdvisoryLock(42) {}
                #expect(start.duration(to: .now) < Self.bound)
                ending.finish()
                let error = await #expect(throws: PostgresError.self) { try await hanging.value }
                #expect(error?.code == .connectionLost)
            }
        }
    }

    @Test func aHolderThatMovesKeepsTheLock() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                let holder = LockHolder()
                let rounds = try await client.withAdvisoryLock(42, holder, { _ in }) { _ in
                    let end = ContinuousClock.now + LockHolder.silenceMax + .seconds(4)
                    var rounds = 0
                    // The holder only reports progress, as a leader without work does too.
                    while ContinuousClock.now < end {
                        holder.move()
                        #expect(holder.isRecent)
                        rounds += 1
                        try await Task.sleep(for: .seconds(1))
                    }
                    return rounds
                }
                #expect(rounds > 1)
            }
        }
    }

    @Test func aDatabaseTransactionOfAStoppedProcessEnds() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 2) { client async throws in
                let wakesUp = DispatchSemaphore(value: 0)
                let (isOpen, opened) = AsyncStream.makeStream(of: Void.self)
                let stopped = Task {
                    try await client.withTransaction { connection in
                        _ = try connection.query("SELECT pg_advisory_xact_lock(7)")
                        opened.finish()
                        wakesUp.wait()
                    }
                }
                for await _ in isOpen {}
                let start = ContinuousClock.now
                try await client.withTransaction { connection in
                    _ = try connection.query("SELECT pg_advisory_xact_lock(7)")
                }
                #expect(start.duration(to: .now) < Self.bound)
                wakesUp.signal()
                // The holder notices the loss before COMMIT or through it.
                let error = await #expect(throws: PostgresError.self) { try await stopped.value }
                #expect([.connectionLost, .commitOutcomeUnknown].contains(error?.code))
            }
        }
    }
}
