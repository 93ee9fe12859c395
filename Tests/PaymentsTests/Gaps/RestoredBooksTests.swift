import EventTypes
import Logging
import Postgres
import StoreAPI
import Subscriptions
import TestSupport
import Testing

@testable import Payments

/// A store whose database is restored from a backup, while the processor knows what was charged since then
/// (rule S524).
@Suite(.timeLimit(.minutes(10))) struct RestoredBooksTests {
    private static let day = Duration.seconds(86_400)

    private func subscribe(_ method: SandboxPaymentMethod, in store: Store) async throws {
        _ = try await store.buy(request("club", price: usd(299), method: method), key: "1")
    }

    @Test func aLostRenewalIsTakenOverAndNotChargedAgain() async throws {
        try await restoring { store in
            try await subscribe(.success, in: store)
        } losing: { store in
            try await store.advance(days: 31)
            #expect(try await store.transactions().map(\.state) == [.purchased, .purchased])
        } _: { store in
            #expect(try await store.transactions().count == 1)
            try await store.renew()
            let all = try await store.transactions()
            #expect(all.map(\.state) == [.purchased, .purchased])
            #expect(all.last?.subscription?.start == all.first?.subscription?.end)
            #expect(store.processor.searchesAsked == 1 && store.processor.chargesAsked == 0)
            #expect(try await store.subscriptionChanges().map(\.cause) == [.purchased, .renewed])
        }
    }

    /// The instance that notices the gap is killed before it has asked.
    @Test func aKilledSearchIsMadeAgain() async throws {
        try await restoring { store in
            try await subscribe(.success, in: store)
        } losing: { store in
            try await store.advance(days: 31)
        } _: { store in
            #expect(try await store.renewals.carryOut(limit: 10) == 1)
            _ = store.pending.take()
            try await store.recover()
            #expect(try await store.transactions().map(\.state) == [.purchased, .purchased])
            #expect(store.processor.searchesAsked == 1 && store.processor.chargesAsked == 0)
        }
    }

    /// The buyer has paid by another card, with a try that the backup does not know.
    @Test func aChargeUnderAnotherTryIsFound() async throws {
        try await restoring { store in
            try await subscribe(.renewalDeclined, in: store)
            try await store.advance(days: 32)
            #expect(try await store.subscription().state == .inBillingRetryPeriod)
        } losing: { store in
            try await store.advance(days: 3)
            try await store.chooseWorkingCard()
            #expect(try await store.subscription().state == .active)
        } _: { store in
            try await store.renew()
            #expect(try await store.subscription().state == .active)
            #expect(store.processor.chargesAsked == 0)
            #expect(try await store.transactions().last?.state == .purchased)
        }
    }

    /// In the lost time a try failed that the backup has open, and the next one was charged.
    @Test func anOpenTryOfTheBackupFindsTheTryAfterIt() async throws {
        try await restoring { store in
            try await subscribe(.success, in: store)
            store.clock.advance(by: Self.day * 30)
            #expect(try await store.renewals.carryOut(limit: 10) == 1)
        } losing: { store in
            try await store.giveUpNewestCharge()
            try await store.advance(days: 2)
            let states = try await store.transactions().map(\.state)
            #expect(states == [.purchased, .failed, .purchased])
        } _: { store in
            try await store.recover()
            #expect(try await store.transactions().map(\.state) == [.purchased, .purchased])
            #expect(store.processor.searchesAsked == 1 && store.processor.chargesAsked == 0)
        }
    }

    /// The price has fallen, so the lost charge is given back.
    ///
    /// The other tries find it no more, and neither does the try that had its number.
    @Test func aLostChargeThatWasGivenBackIsNotFoundAgain() async throws {
        try await restoring { store in
            try await subscribe(.renewalDeclined, in: store)
            try await store.advance(days: 32)
        } losing: { store in
            try await store.advance(days: 3)
            try await store.chooseWorkingCard()
            #expect(try await store.subscription().state == .active)
        } _: { store in
            try await store.sell(club(price: usd(199), version: 2))
            try await store.renew()
            #expect(try await store.subscription().state == .inBillingRetryPeriod)
            #expect(store.processor.chargesAsked == 0)
            #expect(try await store.count("found_attempts") == 1)
            // The lost tries before the charge were declined, and their numbers are used up.
            for _ in 0..<3 where try await store.subscription().state != .active {
                try await store.chooseWorkingCard()
            }
            #expect(try await store.subscription().state == .active)
            #expect(store.processor.chargesAsked == 1)
            let prices = try await store.transactions().filter { $0.state == .purchased }
                .map(\.price.minorUnits)
            #expect(prices == [299, 199])
        }
    }

    @Test func whatWasNotChargedIsCharged() async throws {
        try await restoring { store in
            try await subscribe(.success, in: store)
        } losing: { store in
            store.clock.advance(by: Self.day * 30)
            let count = try await store.renewals.carryOut(limit: 10)
            #expect(count == 1)
        } _: { store in
            try await store.renew()
            #expect(store.processor.searchesAsked == 1 && store.processor.chargesAsked == 1)
            #expect(try await store.transactions().map(\.state) == [.purchased, .purchased])
        }
    }

    @Test func aRenewalThatALostCardHasPaidWaitsForAPerson() async throws {
        try await restoring { store in
            try await subscribe(.success, in: store)
        } losing: { store in
            store.clock.advance(by: Self.day * 30)
        } _: { store in
            store.processor.answerSearches(.strayed)
            try await store.renew()
            for _ in 0..<3 { try await store.recover() }
            #expect(store.processor.searchesAsked > 1)
            #expect(store.processor.chargesAsked == 0 && store.processor.inquiriesAsked == 0)
            #expect(try await store.transactions().map(\.state) == [.purchased, .purchasing])
            store.processor.answerSearches(nil)
            try await store.recover()
            #expect(store.processor.chargesAsked == 1)
            #expect(try await store.transactions().map(\.state) == [.purchased, .purchased])
        }
    }

    /// Another card may have made the lost try.
    @Test func aLostDeclineRefusesNoCardForGood() async throws {
        try await restoring { store in
            try await subscribe(.renewalDeclined, in: store)
        } losing: { store in
            try await store.advance(days: 31)
        } _: { store in
            store.processor.advise(.never)
            try await store.renew()
            let tries = try await store.transactions().filter { $0.reason == .renewal }
            let first = try #require(tries.first)
            let attempt = try await store.attempt(of: first.id)
            #expect(attempt.step == .settled && attempt.end != .charged)
            #expect(attempt.advice == nil)
        }
    }

    @Test func aSearchWithoutAnAnswerIsMadeOnceALease() async throws {
        try await restoring { store in
            try await subscribe(.success, in: store)
        } losing: { store in
            try await store.advance(days: 31)
        } _: { store in
            store.processor.answerSearches(.unavailable)
            try await store.renew()
            for _ in 0..<5 { try await store.recover(after: .seconds(1)) }
            #expect(store.processor.searchesAsked == 1)
            #expect(try await store.transactions().map(\.state) == [.purchased, .purchasing])
            store.processor.answerSearches(nil)
            try await store.recover()
            #expect(try await store.transactions().map(\.state) == [.purchased, .purchased])
            #expect(store.processor.searchesAsked == 2 && store.processor.chargesAsked == 0)
        }
    }

    @Test func aSearchThatOutlivesItsLeaseIsNotMadeTwiceAtOnce() async throws {
        try await restoring { store in
            try await subscribe(.success, in: store)
        } losing: { store in
            try await store.advance(days: 31)
        } _: { store in
            store.processor.duringNextSearch {
                store.clock.advance(by: .seconds(11))
                _ = try? await store.runner.recover()
            }
            try await store.renew()
            try await store.recover()
            #expect(store.processor.searchesAsked == 1 && store.processor.chargesAsked == 0)
            #expect(try await store.transactions().map(\.state) == [.purchased, .purchased])
        }
    }

    @Test func anOrdinaryRenewalAsksNothing() async throws {
        try await withStore { store in
            try await store.sell(club())
            try await subscribe(.success, in: store)
            try await store.gaps.note()
            store.clock.set(storeAhead: Self.day * 31)
            try await store.renew()
            #expect(try await store.transactions().map(\.state) == [.purchased, .purchased])
            #expect(store.processor.searchesAsked == 0 && store.processor.inquiriesAsked == 0)
        }
    }

    /// Its time is that of the silence, and not the beginning of all times.
    @Test func anOpenTryWithoutACallIsInDoubtSinceTheSilence() async throws {
        try await withStore { store in
            try await store.sell(club())
            try await subscribe(.success, in: store)
            store.clock.advance(by: Self.day * 30)
            try await store.gaps.note()
            #expect(try await store.renewals.carryOut(limit: 10) == 1)
            _ = store.pending.take()
            try await store.client.withConnection { connection in
                _ = try connection.execute(
                    """
                    UPDATE processor_attempts SET is_uncalled = true, first_called_at = NULL
                    WHERE due_at IS NOT NULL
                    """
                )
            }
            let seenAt = store.clock.machineNow()
            store.clock.advance(by: .seconds(61))
            try await store.gaps.note()
            let last = try #require(try await store.transactions().last)
            let attempt = try await store.attempt(of: last.id)
            #expect(attempt.doubtedSince == seenAt && !attempt.isUncalled)
        }
    }

    /// The backup says of the attempt that it only waits for its turn.
    @Test(arguments: [false, true])
    func afterAGapNothingIsCalledWithoutAnInquiry(isNoted: Bool) async throws {
        try await withStore { store in
            try await store.gaps.note()
            let added = try await store.add(request(), key: "1")
            try await store.outcomes.noteUncalled(store.pending.take().map(\.key))
            store.clock.advance(by: .seconds(61))
            if isNoted { try await store.gaps.note() }
            try await store.recover()
            #expect(try await store.load(added.id).state == .purchased)
            #expect(store.processor.inquiriesAsked == 1 && store.processor.searchesAsked == 0)
        }
    }

    @Test(arguments: RandomSeed.ofThisRun)
    func eachPeriodIsChargedOnceWhateverIsLost(seed: RandomSeed) async throws {
        var random = seed.generator()
        for _ in 0..<4 { try await expectOneCharge(random.next()) }
        try await giveATryUp(random.next())
    }

    /// Were the answers of searches ignored, the test above would go red.
    @Test func onlyTheSearchProtectsTheBuyerOfATryThatWasGivenUp() async throws {
        try await giveATryUp(1, .nothing) { store, books in
            let charges = try await store.madeCharges(in: books)
            #expect(charges.count == 3, "one of them is the second")
        }
    }

    /// Less than a period is lost, so that it has one charge at the most.
    private func expectOneCharge(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let methods: [SandboxPaymentMethod] = [.success, .renewalRecovers, .renewalDeclined]
        let method = methods.randomElement(using: &random) ?? .success
        let days = (Int.random(in: 27...33, using: &random), Int.random(in: 1...10, using: &random))
        let seeds = (random.next(), random.next(), random.next())
        try await restoring { store in
            try await subscribe(method, in: store)
            try await store.live(days.0, seeds.0)
        } losing: { store in
            try await store.live(days.1, seeds.1)
        } _: { store in
            try await store.live(12, seeds.2)
            try await store.chooseWorkingCard()
            try await store.recover()
        }
    }

    /// Lives a life in which the period is charged by the second try, after nobody was called for the first.
    ///
    /// The restored store makes the first try again, and the key of the second one protects nobody.
    private func giveATryUp(
        _ seed: UInt64,
        _ answer: PeriodFinding? = nil,
        then check: @Sendable (Store, PostgresClient) async throws -> Void = { store, books in
            try await store.expectEveryCharge(in: books)
        }
    ) async throws {
        var random = SeededGenerator(seed: seed)
        let days = Int.random(in: 20...28, using: &random)
        let seeds = (random.next(), random.next())
        try await restoring { store in
            try await subscribe(.success, in: store)
            try await store.live(days, seeds.0)
        } losing: { store in
            store.clock.advance(by: Self.day * (30 - days))
            #expect(try await store.renewals.carryOut(limit: 10) == 1)
            try await store.giveUpNewestCharge()
            try await store.advance(days: 2)
            let states = try await store.transactions().map(\.state)
            #expect(states == [.purchased, .failed, .purchased])
        } _: { store in
            store.processor.answerSearches(answer)
            try await store.live(12, seeds.1)
            try await store.recover()
        } then: {
            try await check($0, $1)
        }
    }
}
