import EventTypes
import Messaging
import TestSupport
import Testing

@testable import Payments

/// Renewals in a store whose database's clock is set ahead (rule S523).
@Suite struct ClockJumpTests {
    private static let day = Duration.seconds(86_400)

    /// Buys a subscription that is due in thirty days, and has processes look at the clock.
    private func withSubscriber(
        processes: Int = 1,
        _ body: @Sendable (Store, ManualClock, [RenewalHandler]) async throws -> Void
    ) async throws {
        try await withStore { store in
            try await store.sell(club())
            try await store.buy(request("club", price: usd(299)), key: "1")
            let passing = ManualClock(startTime)
            let handlers = (0..<processes).map { _ in store.guarded(by: passing) }
            for handler in handlers { #expect(try await handler.carryOut(limit: 10) == 0) }
            try await body(store, passing, handlers)
        }
    }

    @Test func aClockThatWasSetAheadChargesNobodyUntilItIsRight() async throws {
        try await withSubscriber { store, passing, handlers in
            let renewals = handlers[0]
            store.clock.advance(by: Self.day * 400)
            #expect(try await renewals.carryOut(limit: 10) == 0)
            #expect(try await store.subscription().state == .active)
            #expect(try await store.transactions().count == 1)

            store.clock.advance(by: Self.day * -400)
            #expect(try await renewals.carryOut(limit: 10) == 0, "nothing is due yet")
            for clock in [store.clock, passing] { clock.advance(by: Self.day * 30) }
            #expect(try await renewals.carryOut(limit: 10) == 1)
            try await store.settle()
            #expect(try await store.transactions().map(\.state) == [.purchased, .purchased])
        }
    }

    @Test func aProcessThatStartsAfterAnOutageCatchesUp() async throws {
        try await withSubscriber { store, passing, _ in
            store.clock.advance(by: Self.day * 180)
            let carried = try await store.guarded(by: passing).carryOut(limit: 10)
            #expect(carried == 1)
        }
    }

    @Test func oneWordOfAnAdministratorReachesEveryProcess() async throws {
        try await withSubscriber(processes: 2) { store, passing, handlers in
            store.clock.advance(by: Self.day * 30)
            for handler in handlers { #expect(try await handler.carryOut(limit: 10) == 0) }
            let reply = try await store.clockHandler.confirm()
            #expect(reply.now == store.clock.now())
            #expect(try await handlers[0].carryOut(limit: 10) == 1)
            try await store.settle()
            // The other one has nothing to do at this time, and works at the next.
            #expect(try await handlers[1].carryOut(limit: 10) == 0)
            for clock in [store.clock, passing] { clock.advance(by: Self.day * 31) }
            #expect(try await handlers[1].carryOut(limit: 10) > 0)
            try await store.settle()

            store.clock.advance(by: Self.day * 60)
            for handler in handlers { #expect(try await handler.carryOut(limit: 10) == 0) }
        }
    }
}

extension Store {
    /// The renewals of a process that has not looked at the clock yet.
    ///
    /// - Parameter passing: Shows the time that passes, and is not set with the store's clock.
    /// - Returns: The renewals.
    fileprivate func guarded(by passing: ManualClock) -> RenewalHandler {
        var handler = renewals
        handler.jumps = ClockJumpGuard(
            passed: { passing.now().duration(since: startTime) },
            logger: context.logger
        )
        return handler
    }

    fileprivate var clockHandler: ClockHandler {
        ClockHandler(
            client: client,
            clock: ProcessClock(client: client),
            machineNow: clock.machineNow,
            didCommit: {}
        )
    }
}
