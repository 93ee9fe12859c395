import EventTypes
import Messaging
import Subscriptions
import TestSupport
import Testing

@testable import Payments

@Suite(.timeLimit(.minutes(10))) struct RenewalLoadTests {
    private let start = ContinuousClock.now

    @Test func theNextBatchWaitsUntilEnoughIsCharged() async throws {
        let load = RenewalLoad()
        load.began(10)
        let waiting = Task { try await load.wait(untilBelow: 5) }
        load.carriedOut(5)
        load.carriedOut(1)
        try await waiting.value
    }

    @Test func aProcessorThatDoesNotAnswerHoldsUpDueActionsForALimitedTime() async throws {
        let load = RenewalLoad()
        load.began(10)
        let start = ContinuousClock.now
        try await load.wait(untilBelow: 1, atMost: .milliseconds(20))
        // Nothing else ends the wait.
        #expect(.now - start < .seconds(60))
    }

    @Test func aWaitForChargesEndsWithItsTask() async throws {
        let load = RenewalLoad()
        load.began(10)
        let waiting = Task { try await load.wait(untilBelow: 1) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func theEndOfTheLastChargeIsSignalled() async throws {
        let load = RenewalLoad()
        load.began(10)
        load.carriedOut(9)
        #expect(load.isCharging)
        #expect(try await !isSignalled(load, within: .milliseconds(50)))
        load.carriedOut(1)
        #expect(!load.isCharging)
        #expect(try await isSignalled(load, within: .seconds(120)))
        load.tellIfEmpty()
        #expect(try await isSignalled(load, within: .seconds(120)), "what charges nothing is done")
        load.began(1)
        load.tellIfEmpty()
        #expect(try await !isSignalled(load, within: .milliseconds(50)))
    }

    /// Whether the end of all charges is signalled before a wait is over.
    private func isSignalled(_ load: RenewalLoad, within limit: Duration) async throws -> Bool {
        let start = ContinuousClock.now
        try await load.emptied.wait(atMost: limit)
        return .now - start < limit
    }

    @Test func aPurchaseCountsForASecond() {
        let load = RenewalLoad()
        #expect(!load.hasBuyers(at: start))
        load.noteBuyers(at: start)
        #expect(load.hasBuyers(at: start + .milliseconds(900)))
        #expect(!load.hasBuyers(at: start + .milliseconds(1000)))
    }

    @Test func thePaceFollowsTheBuyers() {
        let load = RenewalLoad()
        #expect(load.pace(at: start) == .alone)
        load.noteBuyers(at: start)
        #expect(load.pace(at: start + .milliseconds(900)) == .besideBuyers)
        #expect(load.pace(at: start + .milliseconds(1000)) == .alone)
    }

    @Test func renewalsThatAreBegunGiveWayToABuyer() async throws {
        try await withStore { store in
            let runner = store.runner
            let most = runner.limits.batchSizeMax
            #expect(runner.batchSizeMax(of: .renewals) == most)
            #expect(runner.restOfRenewals(after: .milliseconds(50)) == .zero)
            // A test that stands still for a while sees the buyer, too.
            runner.renewals.noteBuyers(at: ContinuousClock.now + .seconds(600))
            #expect(runner.batchSizeMax(of: .renewals) == RenewalPace.besideBuyers.batchSizeMax)
            #expect(runner.batchSizeMax(of: .prompt) == most)
            // All workers together have a third of the time.
            let rest = Duration.milliseconds(100) * runner.limits.renewalCallsMax
            #expect(runner.restOfRenewals(after: .milliseconds(50)) == rest)
        }
    }

    @Test func renewalsDoNotWaitWithBuyers() async throws {
        try await withStore { store in
            try await store.sell(club())
            let runner = store.runner
            _ = try await store.add(request("club", price: usd(299)), key: "1")
            runner.offer(store.pending.take())
            #expect(runner.queues[.prompt]?.count == 1)
            #expect(runner.renewals.hasBuyers())
            await runner.drain()

            store.clock.advance(by: .days(30))
            #expect(try await store.renewals.carryOut(limit: 10) == 1)
            runner.offer(store.pending.take())
            #expect(runner.queues[.renewals]?.count == 1)
            #expect(runner.queues[.prompt]?.count == 0)
            await runner.drain()
            #expect(try await store.transactions().map(\.state) == [.purchased, .purchased])
        }
    }
}
