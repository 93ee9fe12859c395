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

    /// Lives a store's life until a backup, a life that is lost, and one with the backup.
    ///
    /// The processor's books and the clock go on.
    private func restoring(
        _ known: @Sendable (Store) async throws -> Void,
        losing lost: @Sendable (Store) async throws -> Void,
        _ restored: @Sendable (Store) async throws -> Void
    ) async throws {
        let role = PaymentsMigrations.role
        let clock = ManualClock(startTime)
        try await withTestDatabase(migrations: PaymentsMigrations.all) { processor in
            try await processor.withClient(role: role) { books in
                try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
                    try await database.withClient(role: role) { client in
                        let store = Store(client: client, books: books, clock: clock)
                        try await store.sell(club())
                        try await known(store)
                        try await store.gaps.note()
                    }
                    try await database.withCopy { backup in
                        try await database.withClient(role: role) { client in
                            try await lost(Store(client: client, books: books, clock: clock))
                        }
                        clock.advance(by: .seconds(120))
                        try await backup.withClient(role: role) { client in
                            let store = Store(client: client, books: books, clock: clock)
                            try await restored(store)
                            try await store.expectEveryCharge(in: books)
                        }
                    }
                }
            }
        }
    }

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
            let open = try #require(try await store.transactions().last)
            let key = AttemptKey(transactionID: open.id, kind: .charge)
            let failed = AttemptResult(key: key, outcome: .exhausted)
            _ = try await store.outcomes.settle([failed])
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
}

extension Store {
    /// Lives through days, on which answers are lost, calls are not made, and cards are chosen.
    fileprivate func live(_ days: Int, _ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<days {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: processor.loseAnswers(1)
            case 1:
                _ = try await renewals.carryOut(limit: 10)
                _ = pending.take()
            case 2: try await chooseWorkingCard()
            default: break
            }
            // An advance would wait for the charges whose answers were lost.
            clock.advance(by: .seconds(86_400))
            try await renew()
            try await recover()
        }
    }

    /// Pays by a card that works, which is charged for what is owed.
    fileprivate func chooseWorkingCard() async throws {
        let dunning = DunningHandler(renewals: renewals) { [runner] in await runner.end($0) }
        let attempts = try await client.withTransaction { connection in
            let owed = try dunning.owed(by: alice.accountKey, on: connection)
            let card = SandboxPaymentMethod.success.method
            return try dunning.charge(owed, by: card, on: connection)
        }
        dunning.didCommit(attempts)
        try await settle()
    }

    /// Expects that the books have each charge of the processor's, and that the processor has each of theirs.
    fileprivate func expectEveryCharge(in books: PostgresClient) async throws {
        let made = try await books.withConnection { connection in
            try connection.query(
                """
                SELECT idempotency_key FROM sandbox_processor.charges
                WHERE decline_reason IS NULL ORDER BY idempotency_key
                """
            ).map { AttemptID(bytes: try $0.decode(SIMD16<UInt8>.self)) }
        }
        let known = try await client.withConnection { connection in
            try connection.query(
                """
                SELECT attempt_id FROM processor_attempts
                WHERE outcome = 'charged' ORDER BY attempt_id
                """
            ).map { AttemptID(bytes: try $0.decode(SIMD16<UInt8>.self)) }
        }
        #expect(made == known)
        let purchased = try await transactions().filter { $0.state == .purchased }
        let returned = try await books.withConnection { connection in
            try connection.query("SELECT charge_key FROM sandbox_processor.refunds").count
        }
        #expect(purchased.count == known.count - returned)
        #expect(try await booksBalance())
        #expect(try await auditFindings() == [])
    }
}

extension Store {
    /// Notes that the store is seen.
    var gaps: BookGapHandler {
        BookGapHandler(
            client: client,
            machineNow: clock.machineNow,
            now: clock.now,
            logger: context.logger
        )
    }
}
