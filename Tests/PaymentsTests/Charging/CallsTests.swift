import EventTypes
import Postgres
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// When the processor is called, when it is inquired first, and under which key.
@Suite(.timeLimit(.minutes(10))) struct CallsTests {
    @Test func aCallThatWasNotTakenIsRepeatedWithoutAnInquiry() async throws {
        try await withStore(policy: AttemptPolicy(callsMax: 1)) { store in
            let bought = try await store.buy(request(method: .throttled), key: "a")
            #expect(bought.state == .purchasing)
            let attempt = try await store.attempt(of: bought.id)
            #expect(attempt.isUncalled && attempt.callCount == 0)
            for _ in 0..<3 { try await store.recover(after: .seconds(1)) }
            #expect(try await store.load(bought.id).state == .purchased)
            #expect(store.processor.chargesAsked == 3)
            #expect(store.processor.inquiriesAsked == 0)
        }
    }

    @Test func aPaymentForWhichNoCallWasTakenEndsAfterAWhile() async throws {
        try await withStore(policy: AttemptPolicy(waitMax: .seconds(60))) { store in
            let bought = try await store.buy(request(method: .throttled), key: "a")
            try await store.recover(after: .seconds(59))
            #expect(try await store.load(bought.id).state == .purchasing)
            try await store.recover(after: .seconds(1))
            let ended = try await store.load(bought.id)
            #expect(ended.state == .failed && ended.failureReason == .interrupted)
            try await store.recover(after: .seconds(60))
            #expect(store.processor.chargesAsked == 2)
            #expect(try await store.count("sandbox_processor.charges") == 0)
        }
    }

    @Test func aPaymentForWhichACallMayHaveBeenMadeIsWaitedForLonger() async throws {
        try await withStore(policy: AttemptPolicy(waitMax: .seconds(60))) { store in
            let bought = try await store.buy(request(method: .flaky), key: "a")
            for _ in 0..<2 { try await store.recover(after: .seconds(60)) }
            #expect(try await store.load(bought.id).state == .purchased)
        }
    }

    @Test func aRenewalIsNotGivenUp() {
        let now = startTime.onMachines
        var attempt = ProcessorAttempt(
            transactionID: TransactionID(number: 1),
            kind: .charge,
            id: IDSource.random.attempt(at: startTime),
            step: .calling,
            paymentMethod: "pm_1",
            amount: usd(999),
            callableSince: now,
            isUncalled: true
        )
        let policy = AttemptPolicy()
        #expect(policy.givesUp(attempt, at: now.advanced(by: policy.waitMax)))
        attempt.renewalTry = 1
        #expect(!policy.givesUp(attempt, at: now.advanced(by: policy.waitMax)))
    }

    @Test func aKeyThatIsSpentIsReplacedOnceAndForAll() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(method: .storedError), key: "a")
            #expect(bought.state == .purchasing)
            for _ in 0..<3 { try await store.recover() }
            #expect(try await store.load(bought.id).state == .purchased)
            #expect(store.processor.generationsAsked == [1, 2])
            #expect(try await store.count("sandbox_processor.charges") == 1)
        }
    }

    /// The process is killed after the commit of the new key and before the call under it.
    @Test func aNewKeyIsCommittedBeforeItIsUsed() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(method: .storedError), key: "a")
            let key = try await store.attempt(of: bought.id).key
            let spent = AttemptOutcome.keyIsSpent(generation: 1, step: .calling)
            _ = try await store.outcomes.settle([AttemptResult(key: key, outcome: spent)])
            #expect(try await store.attempt(of: bought.id).generation == 2)
            #expect(store.processor.generationsAsked == [1])
        }
    }

    @Test func whatNobodyIsSureAboutKeepsItsKey() async throws {
        try await withStore { store in
            try await store.buy(request(method: .flaky), key: "a")
            for _ in 0..<6 { try await store.recover() }
            #expect(store.processor.generationsAsked == [1, 1, 1])
        }
    }

    @Test func nobodyKnowsWhenAnOlderVersionCalledFirst() async throws {
        try await withStore { store in
            try await store.add(request(), key: "a")
            try await store.client.withConnection { connection in
                try connection.execute("UPDATE processor_attempts SET first_called_at = NULL")
            }
            store.clock.advance(by: .seconds(11))
            #expect(try await store.outcomes.takeDue(limit: 1).map(\.firstCalledAt) == [nil])
        }
    }

    @Test func theAttemptsOfOneTransactionAreTakenByThemselves() async throws {
        try await withStore { store in
            let first = try await store.add(request(), key: "a")
            let second = try await store.add(request(), key: "b")
            store.clock.advance(by: .seconds(11))
            let taken = try await store.outcomes.takeDue(limit: 10, of: second.id)
            #expect(taken.map(\.transactionID) == [second.id])
            let others = try await store.outcomes.takeDue(limit: 10)
            #expect(others.map(\.transactionID) == [first.id])
        }
    }

    @Test func whatOnlyWaitsForItsTurnIsNotInquiredAbout() async throws {
        try await withStore { store in
            let added = try await store.add(request(), key: "a")
            store.runner.offer(store.pending.take())
            for _ in 0..<4 {
                store.clock.advance(by: .seconds(6))
                try await store.runner.keepQueued()
                #expect(try await store.runner.recover() == 0)
            }
            await store.runner.drain()
            #expect(try await store.load(added.id).state == .purchased)
            #expect(store.processor.inquiriesAsked == 0 && store.processor.chargesAsked == 1)
        }
    }

    @Test func aLeaseThatHasEndedIsNotRenewed() async throws {
        try await withStore { store in
            try await store.add(request(), key: "a")
            let attempts = store.pending.take()
            store.clock.advance(by: .seconds(11))
            let kept = try await store.outcomes.renewLeases(
                of: attempts.map(\.key),
                until: store.context.leaseEnd
            )
            #expect(kept == [])
        }
    }

    @Test func whatDoesNotFitIntoTheQueueIsCalledWithoutAnInquiry() async throws {
        try await withStore { store in
            var limits = ChargeRunner.Limits()
            limits.queueMax = 2
            let runner = ChargeRunner(
                processor: store.processor,
                context: store.context,
                limits: limits
            )
            for key in ["a", "b", "c", "d"] { try await store.add(request(), key: key) }
            runner.offer(store.pending.take())
            try await runner.keepQueued()
            // An ordinary payment has no time of waiting written.
            let waiting = try await store.count(
                "processor_attempts WHERE callable_since = first_called_at"
            )
            #expect(waiting == 2)
            #expect(try await store.count("processor_attempts WHERE callable_since IS NULL") == 2)
            _ = await runner.queues[.prompt]?.next(2)
            store.clock.advance(by: .seconds(11))
            #expect(try await runner.recover() == 4)
            // Only those that were taken from the queue may have been called.
            #expect(store.processor.inquiriesAsked == 2)
        }
    }

    @Test func whatWasCalledByAProcessThatIsGoneIsInquiredAbout() async throws {
        try await withStore { store in
            try await store.add(request(method: .throttled), key: "a")
            try await store.settle()
            // It falls due and is taken by a process that is killed, perhaps in the call.
            store.clock.advance(by: .seconds(1))
            #expect(try await store.outcomes.takeDue(limit: 1).map(\.isUncalled) == [true])
            store.clock.advance(by: .seconds(11))
            _ = try await store.runner.recover()
            #expect(store.processor.inquiriesAsked == 1)
        }
    }
}
