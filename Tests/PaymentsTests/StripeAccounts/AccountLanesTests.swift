import EventTypes
import StoreAPI
import StripeStandIn
import TestSupport
import Testing

@testable import Payments

/// An account at Stripe that takes connections and never answers, beside one that works.
@Suite(.timeLimit(.minutes(10))) struct AccountLanesTests {
    /// Runs a runner that leaves nothing to itself, so that whatever waits behind a call waits for its end.
    private static func run(
        _ store: StripeStore,
        _ body: (ChargeRunner) async throws -> Void
    ) async throws {
        var limits = ChargeRunner.Limits()
        limits.promptCallsMax = 1
        limits.renewalCallsMax = 1
        limits.stragglersMax = 0
        limits.patience = .milliseconds(1)
        let runner = ChargeRunner(
            processor: store.charging,
            context: store.runner.context,
            limits: limits
        )
        let running = Task { try await runner.run() }
        do { try await body(runner) } catch {
            running.cancel()
            _ = try? await running.value
            throw error
        }
        running.cancel()
        try await running.value
    }

    @Test func anAccountThatHangsHoldsUpNoPurchaseOfAnother() async throws {
        try await withTwoAccounts { two in
            let card = try await two.store.save()
            try await two.withProcess { store in
                let hanging = try await store.save(at: two.url)
                two.standIn.inject(StandInFault(.silent, count: .max))
                try await Self.run(store) { runner in
                    let held = try await store.add(by: hanging, key: "held")
                    runner.offer(store.pending.take())
                    try await eventually("a call that hangs") {
                        two.standIn.paymentCalls > 0 ? true : nil
                    }
                    for key in ["a", "b", "c"] {
                        let prompt = try await two.store.add(by: card, key: key)
                        runner.offer(two.store.pending.take())
                        try await eventually("the purchase at the other account") {
                            try await store.load(prompt.id).state == .purchased ? true : nil
                        }
                    }
                    #expect(try await store.load(held.id).state == .purchasing)
                }
            }
            #expect(two.store.standIn.entries.map(\.amount) == [999, 999, 999])
            #expect(two.standIn.entries.isEmpty)
        }
    }

    @Test func inquiriesThatHangHoldUpNoneOfAnotherAccount() async throws {
        try await withTwoAccounts { two in
            let lost = StandInFault(.lostAfter, path: "/v1/payment_intents", method: "POST")
            let card = try await two.store.save()
            try await two.withProcess { store in
                let hanging = try await store.save(at: two.url)
                two.standIn.inject(lost)
                let held = try await store.buy(by: hanging, key: "held")
                two.standIn.inject(StandInFault(.silent, count: .max))
                let calls = two.standIn.calls
                store.clock.advance(by: .seconds(31))
                try await Self.run(store) { runner in
                    try await eventually("an inquiry that hangs") {
                        two.standIn.calls > calls ? true : nil
                    }
                    two.store.standIn.inject(lost)
                    let prompt = try await two.store.buy(by: card, key: "prompt")
                    #expect(prompt.state == .purchasing)
                    store.clock.advance(by: .seconds(31))
                    runner.wake()
                    try await eventually("the inquiry at the other account") {
                        try await store.load(prompt.id).state == .purchased ? true : nil
                    }
                    #expect(try await store.load(held.id).state == .purchasing)
                }
                // What hung is found once the account answers.
                two.standIn.clearFaults()
                for _ in 0..<4 { try await store.recover(after: .seconds(60)) }
                #expect(try await store.load(held.id).state == .purchased)
            }
            #expect(two.store.standIn.entries.map(\.amount) == [999])
            #expect(two.standIn.entries.map(\.amount) == [999])
        }
    }

    /// Receives a runner that does not run, and a card of the second account.
    private static func withRunner(
        queueMax: Int = 20_000,
        _ body: @escaping @Sendable (ChargeRunner, StripeStore, PaymentMethod) async throws -> Void
    ) async throws {
        try await withTwoAccounts { two in
            try await two.withProcess { store in
                var limits = ChargeRunner.Limits()
                limits.queueMax = queueMax
                let runner = ChargeRunner(
                    processor: store.charging,
                    context: store.runner.context,
                    limits: limits
                )
                try await body(runner, store, try await store.save(at: two.url))
            }
        }
    }

    @Test func attemptsWhoseLeasesHaveEndedAreNotSorted() async throws {
        try await Self.withRunner { runner, store, card in
            runner.offer([try await store.renewal(by: card, "a")])
            #expect(runner.renewals.isCharging)
            store.clock.advance(by: .seconds(11))
            runner.queues[.renewals]?.close()
            await runner.sort(.renewals)
            #expect(runner.accounts.map { $0.queues[.renewals]?.count } == [0, 0])
            #expect(!runner.renewals.isCharging)
        }
    }

    /// The attempts of a full account are left to the database, which knows that nobody has called.
    @Test func whatAFullAccountTakesNoMoreIsLeftToTheDatabase() async throws {
        try await Self.withRunner(queueMax: 1) { runner, store, card in
            let first = try await store.renewal(by: card, "a")
            let second = try await store.renewal(by: card, "b")
            let sorting = Task { await runner.sort(.renewals) }
            runner.offer([first])
            try await eventually("the first renewal to be sorted") {
                runner.accounts[1].queues[.renewals]?.count == 1 ? true : nil
            }
            runner.offer([second])
            runner.queues[.renewals]?.close()
            await sorting.value
            #expect(runner.accounts.map { $0.queues[.renewals]?.count } == [0, 1])
            try await runner.keepQueued()
            #expect(try await !store.charge(of: first.transactionID).isUncalled)
            #expect(try await store.charge(of: second.transactionID).isUncalled)
            // Only the first one is still under way.
            #expect(runner.renewals.isCharging)
            runner.renewals.carriedOut(1)
            #expect(!runner.renewals.isCharging)
        }
    }

    /// Each worker rests twice as long as all busy workers together have worked.
    @Test func anAccountWithoutRenewalsLetsNoneOfAnotherRest() async throws {
        try await Self.withRunner { runner, store, card in
            let renewal = try await store.renewal(by: card, "a")
            let (work, count) = (Duration.milliseconds(10), runner.limits.renewalCallsMax)
            // A test that stands still for a while sees the buyer, too.
            runner.renewals.noteBuyers(at: ContinuousClock.now + .seconds(600))
            #expect(runner.restOfRenewals(after: work) == work * 2 * count)
            runner.accounts[0].queues[.renewals]?.append([renewal])
            #expect(runner.restOfRenewals(after: work) == work * 2 * count)
            runner.accounts[1].queues[.renewals]?.append([renewal])
            #expect(runner.restOfRenewals(after: work) == work * 4 * count)
        }
    }

    @Test func attemptsThatAreQueuedAtTheEndAreCarriedOut() async throws {
        try await withTwoAccounts { two in
            let card = try await two.store.save()
            try await two.withProcess { store in
                let other = try await store.save(at: two.url)
                let runner = ChargeRunner(
                    processor: store.charging,
                    context: store.runner.context
                )
                _ = try await two.store.add(by: card, key: "a")
                _ = try await store.add(by: other, key: "b")
                runner.offer(two.store.pending.take() + store.pending.take())
                for lane in ChargeLane.allCases {
                    runner.queues[lane]?.close()
                    await runner.sort(lane)
                }
                let counts = runner.accounts.map { $0.queues[.prompt]?.count }
                #expect(counts == [1, 1])
                for own in runner.accounts {
                    // It is closed, and what waits in it is taken all the same.
                    #expect(await own.queues[.prompt]?.next(10).count == 1)
                    #expect(await own.queues[.prompt]?.next(10).isEmpty == true)
                }
            }
        }
    }
}

extension StripeStore {
    /// Adds a payment, and makes its attempt that of a renewal, as far as the lanes can tell.
    fileprivate func renewal(by card: PaymentMethod, _ key: String) async throws -> ProcessorAttempt
    {
        _ = try await add(by: card, key: key)
        var attempt = try #require(pending.take().first)
        attempt.renewalTry = 1
        return attempt
    }
}
