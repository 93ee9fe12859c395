import EventTypes
import Ledger
import Postgres
import StoreAPI
import TestSupport
import Testing

@testable import Payments

@Suite(.timeLimit(.minutes(10))) struct ChargeRunnerTests {
    @Test func aBatchOfMixedOutcomesEndsEachInItsOwnState() async throws {
        try await withStore { store in
            var ids: [SandboxPaymentMethod: TransactionID] = [:]
            for method in SandboxPaymentMethod.allCases {
                ids[method] = try await store.add(request(method: method), key: method.rawValue).id
            }
            try await store.settle()
            for _ in 0..<6 { try await store.recover() }

            var ends: [SandboxPaymentMethod: String] = [:]
            for (method, id) in ids {
                let transaction = try await store.load(id)
                ends[method] = transaction.failureReason?.rawValue ?? transaction.state.rawValue
            }
            #expect(
                ends == [
                    .success: "purchased", .decline: "paymentDeclined",
                    .insufficientFunds: "insufficientFunds", .cancelled: "paymentCancelled",
                    .needsApproval: "deferred", .unknownCharged: "purchased",
                    .unknownNotCharged: "processorRefused", .slow: "purchased",
                    .flaky: "purchased", .interrupted: "interrupted",
                    .renewalDeclined: "purchased", .renewalRecovers: "purchased",
                    .processing: "purchased", .needsAction: "purchasing",
                    .throttled: "purchased", .storedError: "purchased",
                    .wrongAmount: "processorRefused", .refundPending: "purchased",
                    .refundFailed: "purchased",
                ]
            )
            #expect(try await store.count("ledger_postings") == 13)
            #expect(try await store.booksBalance())
            for (method, id) in ids {
                let expected = method == .wrongAmount ? 4 : 2
                #expect(try await store.eventTypes(of: id).count == expected, "\(method)")
            }
        }
    }

    @Test func aThousandPaymentsAreChargedOnceEach() async throws {
        try await withStore { store in
            for batch in 0..<4 {
                let replies = try await store.payments.accept(
                    (0..<250).map {
                        PaymentSubmission(
                            account: alice,
                            idempotencyKey: "\(batch)-\($0)",
                            request: request()
                        )
                    }
                )
                for reply in replies { _ = try store.transaction(in: reply) }
            }
            try await store.settle()
            #expect(
                try await store.counts() == [1000, 1000, 0, 0, 2000, 1000, 1000]
            )
            #expect(try await store.booksBalance())
        }
    }

    /// The process is killed after the charge and before its commit (trap 4).
    @Test func aChargeWhoseCommitNeverCameIsFoundByInquiryAndNotRepeated() async throws {
        try await withStore { store in
            let added = try await store.add(request(), key: "a")
            let lost = store.pending.take()
            await store.processor.charge(
                lost.map(ChargeRequest.init)
            ) { _, _ in }
            #expect(try await store.load(added.id).state == .purchasing)

            try await store.recover()
            #expect(try await store.load(added.id).state == .purchased)
            #expect(store.processor.chargesAsked == 1)
            #expect(try await store.count("sandbox_processor.charges") == 1)
            #expect(try await store.postings(of: added.id) == [.purchase])
        }
    }

    /// The process is killed after the commit of the attempt and before the charge.
    @Test func anIntentThatNobodyCarriedOutIsChargedAfterItsLease() async throws {
        try await withStore { store in
            let added = try await store.add(request(), key: "a")
            _ = store.pending.take()
            #expect(try await store.runner.recover() == 0)
            try await store.recover()
            #expect(try await store.load(added.id).state == .purchased)
            #expect(store.processor.inquiriesAsked == 1)
            #expect(try await store.count("sandbox_processor.charges") == 1)
        }
    }

    @Test func aLostAnswerIsInquiredAboutAndNeverRetriedBlind() async throws {
        try await withStore { store in
            store.processor.loseAnswers(1)
            let added = try await store.buy(request(), key: "a")
            #expect(added.state == .purchasing)
            try await store.recover(after: .milliseconds(200))
            #expect(try await store.load(added.id).state == .purchased)
            #expect(store.processor.chargesAsked == 1)
        }
    }

    @Test func theSameOutcomeCommittedTwiceHasOneEffect() async throws {
        try await withStore { store in
            let added = try await store.add(request(), key: "a")
            let attempts = store.pending.take()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask { await store.runner.carryOut(attempts) }
                }
            }
            #expect(try await store.load(added.id).version == 2)
            #expect(try await store.counts() == [1, 1, 0, 0, 2, 1, 1])
        }
    }

    @Test func aChargeThatArrivesAfterTheTransactionFailedIsGivenBack() async throws {
        try await withStore { store in
            let added = try await store.add(request(), key: "a")
            let attempts = store.pending.take()
            _ = try await store.outcomes.settle([
                AttemptResult(key: attempts[0].key, outcome: .exhausted)
            ])
            let failed = try await store.load(added.id)
            #expect(failed.failureReason == .processorRefused)

            await store.runner.carryOut(attempts)
            await store.runner.drain()
            #expect(try await store.load(added.id) == failed)
            #expect(try await store.count("sandbox_processor.refunds") == 1)
            #expect(
                try await store.postings(of: added.id) == [.strayCharge, .strayChargeReturn]
            )
            #expect(
                try await store.eventTypes(of: added.id) == [
                    "transaction.purchasing.v1", "transaction.failed.v1",
                    "transaction.stray-charged.v1", "transaction.stray-charge-returned.v1",
                ]
            )
            #expect(try await store.booksBalance())
        }
    }

    @Test func attemptsThatAreDueAreTakenByOneProcessOnly() async throws {
        try await withStore { store in
            for key in 0..<100 { try await store.add(request(), key: "\(key)") }
            store.clock.advance(by: .seconds(11))
            let taken = try await withThrowingTaskGroup(of: [ProcessorAttempt].self) { group in
                for _ in 0..<4 {
                    group.addTask { try await store.outcomes.takeDue(limit: 100) }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(taken.count == 100)
            #expect(Set(taken.map(\.key)).count == 100)
        }
    }

    @Test func taxIsPostedAtTheRateOfTheStorefront() async throws {
        let tax = TaxRates([Storefront(unchecked: "USA"): 1900])
        try await withStore(tax: tax) { store in
            let bought = try await store.buy(request(), key: "a")
            let books = try await store.client.withConnection {
                try LedgerStore.trialBalance(on: $0)
            }
            let balances = books[0].balances.map { "\($0.account) \($0.amount.minorUnits)" }
            #expect(balances == ["buyer -999", "store_revenue 839", "tax_payable 160"])
            #expect(try await store.postings(of: bought.id) == [.purchase])
        }
    }

    @Test func theRunnerCarriesOutWhatItIsOfferedAndEndsInPeace() async throws {
        try await withStore { store in
            let added = try await store.add(request(method: .slow), key: "a")
            let quick = try await store.add(request(), key: "b")
            let running = Task { try await store.runner.run() }
            store.runner.offer(store.pending.take())
            for id in [added.id, quick.id] {
                _ = try await eventually("the transaction is purchased") {
                    try await store.load(id).state == .purchased ? true : nil
                }
            }
            running.cancel()
            try await running.value
        }
    }
}
