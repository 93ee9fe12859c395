import EventTypes
import Messaging
import Postgres
import StoreTracing
import Synchronization
import TestSupport
import Testing

@testable import Payments

/// Commands to the store's clock, with its tables and its events.
@Suite(.timeLimit(.minutes(10))) struct ClockHandlerTests {
    @Test func aClockThatWasNeverSetShowsTheMachinesTimeAndHasNoEvent() async throws {
        try await withClock { clock in
            let reply = try await clock.handler.read()
            #expect(reply.state == ClockState() && reply.state.followed.step == 0)
            #expect(try await clock.events() == [])
        }
    }

    @Test func eachChangeIsAStepAnEventAndTheTimeOfThisProcess() async throws {
        try await withClock { clock in
            let frozen = try await clock.perform(.freeze).get()
            #expect(frozen.isChanged && frozen.state.followed.clock == .frozen(at: frozen.now))
            #expect(clock.process.now == frozen.now && clock.process.step == 1)
            let again = try await clock.perform(.freeze).get()
            #expect(!again.isChanged && again.now == frozen.now)
            let rate = try #require(ClockRate("1h=1d"))
            let running = try await clock.perform(.run(rate)).get()
            #expect(running.now == frozen.now)
            let events = try await clock.events()
            #expect(events.map(\.step) == [1, 2])
            #expect(
                events.map(\.clock) == [frozen.state.followed.clock, running.state.followed.clock]
            )
            #expect(try await clock.handler.read().state.followed.clock == events.last?.clock)
        }
    }

    @Test func aClockStandsStillAtTheTimeThatTheCommandReturned() async throws {
        try await withClock { clock in
            // From the first connection on, the database's time is known.
            _ = try await clock.handler.read()
            // Whoever asks meanwhile gets no time after the one at which the clock will stand.
            let asking = Task {
                var latest = clock.process.now
                while !Task.isCancelled {
                    latest = max(latest, clock.process.now)
                    await Task.yield()
                }
                return latest
            }
            let frozen = try await clock.perform(.freeze).get()
            asking.cancel()
            let latest = await asking.value
            #expect(latest <= frozen.now && clock.process.now == frozen.now)
        }
    }

    @Test func aClockStandsNoEarlierThanItWasIfTheDatabasesClockWentBack() async throws {
        try await withClock { clock in
            let rate = try #require(ClockRate("1h=1d"))
            let started = try await clock.perform(.run(rate)).get().now
            let given = try await eventually("the clock to go on") {
                let now = clock.process.now
                return now > started ? now : nil
            }
            let handler = ClockHandler(
                client: clock.client,
                clock: clock.process,
                machineNow: { MachineTime(millisecondsSinceEpoch: 0) },
                didCommit: {}
            )
            let frozen = try await handler.perform(.freeze, end: StoreClock.last, trace: nil).get()
            #expect(frozen.now >= given)
        }
    }

    @Test func theRelayAndTheKeeperAreWokenByAChangeAndByNothingElse() async throws {
        try await withClock { clock in
            let wakes = Atomic(0)
            let handler = ClockHandler(
                client: clock.client,
                clock: clock.process,
                machineNow: { clock.client.machineTime },
                didCommit: { wakes.add(1, ordering: .relaxed) }
            )
            for _ in 0..<2 {
                _ = try await handler.perform(.freeze, end: StoreClock.last, trace: nil).get()
            }
            #expect(wakes.load(ordering: .relaxed) == 1)
        }
    }

    @Test func anAdvanceGoesToItsTargetAndTheSameKeyIsTheSameAdvance() async throws {
        try await withClock { clock in
            _ = try await clock.perform(.freeze).get()
            let begun = try await clock.advance(.by(.seconds(31 * 86_400)), "a").get()
            guard case .advancing(let advance) = begun.state.status else {
                Issue.record("it is not on its way: \(begun.state)")
                return
            }
            #expect(try await clock.keeper().look() == false)
            let ended = try await clock.handler.read()
            #expect(ended.state.status == .ready && ended.now == advance.target)
            let repeated = try await clock.advance(.by(.seconds(31 * 86_400)), "a").get()
            #expect(!repeated.isChanged && repeated.now == advance.target)
            let other = try await clock.advance(.by(.seconds(86_400)), "a")
            #expect(throws: ClockRefusal.self) { try other.get() }
        }
    }

    @Test func tenRequestsWithOneKeyAtOnceBeginOneAdvance() async throws {
        try await withClock { clock in
            _ = try await clock.perform(.freeze).get()
            let changed = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        try await clock.advance(.by(.seconds(60)), "a").get().isChanged
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(changed == 1)
        }
    }

    @Test func theReceiptsCertificatesAreTheEnd() async throws {
        try await withClock { clock in
            let now = try await clock.perform(.freeze).get().now
            let end = now.advanced(by: .seconds(86_400))
            let result = try await clock.advance(.by(.seconds(2 * 86_400)), "a", end: end)
            #expect(result.refusal == .beyondCertificates(end: end))
            #expect(try await clock.events().count == 1)
        }
    }

    @Test func afterTheBrokerLostItsLogTheNewestChangeIsPublishedAgain() async throws {
        try await withClock { clock in
            _ = try await clock.perform(.freeze).get()
            #expect(try await clock.handler.announceAfterLoss() == false)
            _ = try await clock.client.withConnection {
                try $0.execute("UPDATE relay_place SET epoch = epoch + 1")
            }
            _ = try await clock.keeper().look()
            #expect(try await clock.events().map(\.step) == [1, 1])
            _ = try await clock.keeper().look()
            #expect(try await clock.events().count == 2)
        }
    }

    @Test func aRestoredDatabaseContinuesFromTheClockOfItsProcess() async throws {
        try await withClock { clock in
            let frozen = try await clock.perform(.freeze).get()
            let later = frozen.now.advanced(by: .seconds(86_400))
            clock.process.follow(.frozen(at: later), step: 7)
            #expect(try await clock.handler.read().now == later)
            let running = try await clock.perform(.run(.one)).get()
            #expect(running.now == later && running.state.followed.step == 8)
            #expect(try await clock.events().map(\.step) == [1, 8])
        }
    }

    @Test func aStoreInProductionWhoseClockWasSetIsNotReady() async throws {
        try await withClock { clock in
            #expect(clock.process.problemInProduction == nil)
            _ = try await clock.perform(.freeze).get()
            // The next process knows nothing but the row.
            let next = ClockBench(client: clock.client)
            let keeper = next.keeper(.production)
            #expect(keeper.problem != nil && next.process.problemInProduction == nil)
            _ = try await keeper.look()
            #expect(keeper.problem == nil)
            let problem = try #require(next.process.problemInProduction)
            #expect(problem.contains("STORE_ENVIRONMENT=Sandbox"))
        }
    }
}

extension Result where Success == ClockHandler.Reply, Failure == ClockRefusal {
    /// The refusal, if it is one.
    fileprivate var refusal: ClockRefusal? {
        if case .failure(let refusal) = self { refusal } else { nil }
    }
}
