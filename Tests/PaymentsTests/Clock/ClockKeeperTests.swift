import EventTypes
import Messaging
import Postgres
import StoreAPI
import Synchronization
import TestSupport
import Testing

@testable import Payments

/// Advances of the store's clock, and the work that falls due on the way.
@Suite(.timeLimit(.minutes(10))) struct ClockKeeperTests {
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

    /// The other instance does not get the event of the advance while it settles the purchase.
    @Test func anInstanceThatHasNotHeardOfAnAdvanceSettlesAtTheNewTime() async throws {
        try await withClock { clock in
            let start = try await clock.perform(.freeze).get().now
            let other = ClockBench(client: clock.client)
            #expect(try await other.keeper().look() == false)
            let store = Store(
                client: clock.client,
                now: { other.process.now },
                machineNow: { clock.client.machineTime },
                followClock: { other.process.follow($0.clock, step: $0.step) }
            )
            try await store.sell(club())
            let asked = try await store.add(request("club", price: usd(299)), key: "1")
            _ = try await clock.advance(.by(Self.day), "a").get()
            #expect(try await clock.keeper().look() == false)
            #expect(other.process.now == start, "it has not heard of the advance")
            try await store.settle()
            let bought = try await store.load(asked.id)
            #expect(bought.state == .purchased)
            #expect(bought.subscription?.start == start.advanced(by: Self.day))
            #expect(other.process.now == start.advanced(by: Self.day))
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

    /// A buyer subscribes while the clock is advanced: the advance has looked for what is due before
    /// the subscription is committed.
    @Test func noAdvancePassesOverWorkThatIsMadeMeanwhile() async throws {
        try await withClock { clock in
            let (store, row, due) = try await clock.subscriptionToBeMade()
            let start = clock.process.now
            let begun = try await clock.advance(.by(Self.day * 31), "a").get()
            let (saved, mark) = AsyncStream.makeStream(of: Void.self)
            async let writing: Void = clock.client.withTransaction { connection in
                defer { mark.finish() }
                try store.context.save([row], decidedAt: start, on: connection)
                mark.yield()
                // The advance waits for this database transaction, or has moved the clock in spite of it.
                let step = begun.state.followed.step
                while try connection.query(
                    """
                    SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted
                            AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))
                        OR (SELECT step FROM store_clock) > \(step)
                    """
                ).first?.decode(Bool.self) != true {}
            }
            for await _ in saved { break }
            let keeper = clock.keeper(works: [.subscriptions])
            #expect(try await keeper.look(), "it waits for the renewal")
            try await writing
            #expect(clock.process.now == due)
        }
    }

    /// A charge holds the clock while it is written.
    @Test func anAdvanceThatWaitsForWorkDoesNotHoldItUp() async throws {
        try await withClock { clock in
            let start = try await clock.perform(.freeze).get().now
            let due = DueWorkQueue(
                name: "renewals",
                oldest: { _ in start },
                count: { _, _ in 0 },
                wake: {}
            )
            _ = try await clock.advance(.by(Self.day), "a").get()
            let (held, mark) = AsyncStream.makeStream(of: Void.self)
            let hasLooked = Mutex(false)
            let deadline = ContinuousClock.now + .seconds(60)
            async let isInTime: Bool = clock.client.withTransaction { connection in
                defer { mark.finish() }
                try ClockStore.holdClock(at: start, on: connection, follow: { _ in })
                mark.yield()
                while !hasLooked.withLock({ $0 }), ContinuousClock.now < deadline {
                    _ = try connection.query("SELECT 1")
                }
                return hasLooked.withLock { $0 }
            }
            for await _ in held { break }
            #expect(try await clock.keeper(works: [due]).look(), "it waits for the renewals")
            hasLooked.withLock { $0 = true }
            let hasNotWaited = try await isInTime
            #expect(hasNotWaited, "it has locked the clock that the charge holds")
        }
    }

    @Test func whatWasDecidedBeforeTheClockMovedIsDecidedAgain() async throws {
        try await withClock { clock in
            let (store, row, _) = try await clock.subscriptionToBeMade()
            let start = clock.process.now
            _ = try await clock.advance(.by(Self.day), "a").get()
            #expect(try await clock.keeper().look() == false)
            let times = Mutex([start, start, clock.process.now])
            try await clock.client.withTransaction { connection in
                let time = times.withLock { $0.removeFirst() }
                try store.context.save([row], decidedAt: time, on: connection)
            }
            #expect(times.withLock { $0.isEmpty }, "it ran until it knew the time")
        }
    }

    @Test func anAdvanceSpendsLittleOfItsTimeOnLooks() {
        #expect(ClockKeeper.rest(after: .microseconds(500)) == .milliseconds(20))
        #expect(ClockKeeper.rest(after: .milliseconds(4)) == .milliseconds(100))
        #expect(ClockKeeper.rest(after: .seconds(3)) == .milliseconds(200))
        let beside = ClockKeeper.rest(after: .microseconds(500), isCharging: true)
        #expect(beside == .milliseconds(200), "the end of the charges is signalled")
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

extension DueWorkQueue {
    /// The work of subscriptions.
    fileprivate static let subscriptions = DueWorkQueue(
        name: "subscriptions",
        next: { connection in
            let due = try DueSubscriptionStore.next(on: connection)
            return Dictionary(uniqueKeysWithValues: due.map { ($0.key.rawValue, $0.value) })
        },
        count: nil,
        wake: {}
    )
}

extension ClockBench {
    /// A subscription whose renewal is not written yet, with the time at which it is due; the clock
    /// stands.
    fileprivate func subscriptionToBeMade() async throws -> (Store, SubscriptionRow, StoreTime) {
        _ = try await perform(.freeze).get()
        let store = Store(
            client: client,
            now: { process.now },
            machineNow: { client.machineTime }
        )
        try await store.sell(club())
        _ = try await store.buy(request("club", price: usd(299)), key: "1")
        let row = try #require(try await store.subscriptionRow())
        let due = try #require(try await store.dueWork().values.min())
        try await client.withConnection { connection in
            _ = try connection.execute("UPDATE subscriptions SET due_at = NULL, due_kind = NULL")
        }
        return (store, row, due)
    }
}
