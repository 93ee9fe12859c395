import EventTypes
import Messaging
import Postgres
import StoreAPI
import Synchronization
import TestSupport
import Testing

@testable import Payments

/// Advances of the store's clock, and the work that falls due on the way.
@Suite(.timeLimit(.minutes(2))) struct ClockKeeperTests {
    private static let day = Duration.seconds(86_400)

    @Test func eachApprovalEndsAtItsOwnTimeHoweverFarTheClockGoes() async throws {
        try await withClock { clock in
            let start = try await clock.perform(.freeze).get().now
            let store = Store(
                client: clock.client,
                now: { clock.process.now },
                machineNow: { clock.client.machineTime }
            )
            try await store.sell(product())
            let first = try await store.buy(request(method: .needsApproval), key: "1")
            let works = [
                DueWorkQueue(
                    name: "approvals",
                    oldest: { try AttemptStore.nextApprovalEnd(on: $0) },
                    count: { try AttemptStore.approvalCount(endingBy: $0, on: $1) },
                    wake: {}
                )
            ]
            let keeper = clock.keeper(works: works)
            _ = try await clock.advance(.by(.seconds(3600)), "an hour").get()
            #expect(try await keeper.look() == false)
            let second = try await store.buy(request(method: .needsApproval), key: "2")

            _ = try await clock.advance(.by(Self.day * 31), "a month").get()
            for (id, end) in [(first.id, start), (second.id, start.advanced(by: .seconds(3600)))] {
                let end = end.advanced(by: Self.day)
                #expect(try await keeper.look(), "it waits for the work that is due")
                #expect(clock.process.now == end)
                #expect(try await clock.read(works).waitsFor == ["approvals"])
                #expect(try await store.runner.recover() == 1)
                #expect(try await store.load(id).failureReason == .approvalExpired)
                let times = try await clock.times(of: id)
                #expect(times.last == end)
            }
            #expect(try await keeper.look() == false)
            let target = start.advanced(by: .seconds(3600)).advanced(by: Self.day * 31)
            let reply = try await clock.read(works)
            #expect(reply.now == target && reply.waitsFor == [])
            #expect(reply.advance?.target == target && reply.advance?.done == ["approvals": 2])
        }
    }

    @Test func anInstanceGoesOnWithAnAdvanceThatAnotherBegan() async throws {
        try await withClock { clock in
            _ = try await clock.perform(.freeze).get()
            let begun = try await clock.advance(.by(Self.day), "a").get()
            // The instance that began it is gone. Another one, which has heard of nothing, reads the row.
            let other = ClockBench(client: clock.client)
            #expect(try await other.keeper().look() == false)
            #expect(other.process.now == begun.now.advanced(by: Self.day))
        }
    }

    @Test func anAdvanceThatCannotFindWhatIsDueFailsAndIsResumed() async throws {
        try await withClock { clock in
            let start = try await clock.perform(.freeze).get().now
            _ = try await clock.advance(.by(Self.day), "a").get()
            let broken = DueWorkQueue(
                name: "approvals",
                oldest: { try $0.query("SELECT now() FROM nowhere").first?.decode(StoreTime.self) },
                count: { _, _ in 0 },
                wake: {}
            )
            #expect(try await clock.keeper(works: [broken]).look() == false)
            let failed = try await clock.handler.read()
            guard case .failed(_, let reason) = failed.state.status else {
                Issue.record("it did not fail: \(failed.state)")
                return
            }
            #expect(reason.contains("approvals") && failed.now == start)
            #expect(try await clock.keeper().look() == false, "nothing goes on by itself")
            #expect(try await clock.handler.read().now == start)
            _ = try await clock.perform(.resume).get()
            #expect(try await clock.keeper().look() == false)
            #expect(try await clock.handler.read().now == start.advanced(by: Self.day))
        }
    }

    @Test func ofSeveralKindsOfWorkTheClockStopsAtTheOneThatIsDueFirst() async throws {
        try await withClock { clock in
            let start = try await clock.perform(.freeze).get().now
            let woken = Mutex<Set<String>>([])
            let works = [("approvals", 1), ("renewals", 2)].map { name, days in
                let due = start.advanced(by: Self.day * days)
                return DueWorkQueue(
                    name: name,
                    oldest: { _ in due },
                    count: { time, _ in time >= due ? 1 : 0 },
                    wake: { woken.withLock { _ = $0.insert(name) } }
                )
            }
            _ = try await clock.advance(.by(Self.day * 31), "a").get()
            #expect(try await clock.keeper(works: works).look())
            let reply = try await clock.read(works)
            #expect(reply.now == start.advanced(by: Self.day) && reply.waitsFor == ["approvals"])
            #expect(reply.advance?.done == ["approvals": 1])
            #expect(woken.withLock { $0 } == ["approvals", "renewals"])
        }
    }

    @Test func anAdvanceDoesNotFailBecauseItsDatabaseIsAwayForAMoment() async throws {
        try await withClock { clock in
            _ = try await clock.perform(.freeze).get()
            let begun = try await clock.advance(.by(Self.day), "a").get()
            let away = DueWorkQueue(
                name: "approvals",
                oldest: { _ in throw PostgresError(.connectionLost, "the server is gone") },
                count: { _, _ in 0 },
                wake: {}
            )
            await #expect(throws: DueWorkError.self) {
                try await clock.keeper(works: [away]).look()
            }
            #expect(try await clock.keeper().look() == false)
            #expect(try await clock.handler.read().now == begun.now.advanced(by: Self.day))
        }
    }

    @Test func aStoreInProductionCarriesNoAdvanceOut() async throws {
        try await withClock { clock in
            _ = try await clock.perform(.freeze).get()
            let begun = try await clock.advance(.by(Self.day), "a").get()
            #expect(try await clock.keeper(.production).look() == false)
            #expect(try await clock.handler.read().now == begun.now)
        }
    }

    @Test func whileTheCertificatesEndIsNotKnownAnAdvanceWaits() async throws {
        try await withClock { clock in
            _ = try await clock.perform(.freeze).get()
            let begun = try await clock.advance(.by(Self.day), "a").get()
            #expect(try await clock.keeper(end: nil).look())
            #expect(try await clock.handler.read().now == begun.now)
        }
    }

    @Test func nothingIsPassedOver() {
        let target = startTime.advanced(by: Self.day)
        func command(at now: StoreTime, _ next: StoreTime?) -> ClockCommand? {
            ClockKeeper.command(at: now, target: target, next: next)
        }
        #expect(command(at: startTime, startTime) == nil)
        #expect(command(at: target, startTime) == nil)
        let noon = startTime.advanced(by: Self.day / 2)
        #expect(command(at: startTime, noon) == .reach(noon))
        #expect(command(at: startTime, nil) == .reach(nil))
        #expect(command(at: target, nil) == .finish)
        #expect(command(at: target, target.advanced(by: Self.day)) == .finish)
    }
}
