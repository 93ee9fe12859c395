import EventTypes
import Ledger
import Postgres
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Spec rule 35, trap 27.
@Suite(.timeLimit(.minutes(2))) struct ApprovalTests {
    func deferred(_ store: Store) async throws -> Transaction {
        let transaction = try await store.buy(request(method: .needsApproval), key: "a")
        #expect(transaction.state == .deferred)
        return transaction
    }

    @Test func anApprovedTransactionIsCharged() async throws {
        try await withStore { store in
            let asked = try await deferred(store)
            _ = try await store.admin.decide(.approve, on: asked.id)
            try await store.settle()
            #expect(try await store.load(asked.id).state == .purchased)
            #expect(try await store.postings(of: asked.id) == [.purchase])
            #expect(
                try await store.eventTypes(of: asked.id) == [
                    "transaction.purchasing.v1", "transaction.deferred.v1",
                    "transaction.approved.v1", "transaction.purchased.v1",
                ]
            )
        }
    }

    @Test func anApprovalWhoseProcessIsKilledIsCarriedOutByAnother() async throws {
        try await withStore { store in
            let asked = try await deferred(store)
            _ = try await store.admin.decide(.approve, on: asked.id)
            _ = store.owed.take()
            try await store.recover()
            #expect(try await store.load(asked.id).state == .purchased)
        }
    }

    @Test func aLateAnswerOfBeforeTheApprovalChangesNothing() async throws {
        try await withStore { store in
            let asked = try await deferred(store)
            _ = try await store.admin.decide(.approve, on: asked.id)
            let late = AttemptResult(
                key: AttemptKey(transactionID: asked.id, kind: .charge),
                outcome: .needsApproval(wasApproved: false)
            )
            _ = try await store.outcomes.settle([late])
            try await store.settle()
            #expect(try await store.load(asked.id).state == .purchased)
        }
    }

    @Test func aDeclinedTransactionFailsWithoutACharge() async throws {
        try await withStore { store in
            let asked = try await deferred(store)
            _ = try await store.admin.decide(.decline, on: asked.id)
            try await store.recover(after: .seconds(48 * 3600))
            #expect(try await store.load(asked.id).failureReason == .approvalDeclined)
            #expect(try await store.count("sandbox_processor.charges") == 0)
        }
    }

    @Test func theSameWordTwiceIsOneApprovalAndTheOppositeIsRefused() async throws {
        try await withStore { store in
            let asked = try await deferred(store)
            _ = try await store.admin.decide(.approve, on: asked.id)
            let counts = try await store.counts()
            guard case .done(let again) = try await store.admin.decide(.approve, on: asked.id)
            else { return #expect(Bool(false)) }
            #expect(again == asked)
            guard
                case .refused(.decidedOtherwise, _) = try await store.admin.decide(
                    .decline,
                    on: asked.id
                )
            else { return #expect(Bool(false)) }
            #expect(try await store.counts() == counts)
            try await store.settle()
            #expect(try await store.count("sandbox_processor.charges") == 1)
        }
    }

    @Test func withoutAWordItExpiresAndThenItIsTooLate() async throws {
        try await withStore { store in
            let asked = try await deferred(store)
            try await store.recover(after: .seconds(23 * 3600))
            #expect(try await store.load(asked.id).state == .deferred)
            try await store.recover(after: .seconds(3600))
            #expect(try await store.load(asked.id).failureReason == .approvalExpired)
            guard
                case .refused(.notDeferred, _) = try await store.admin.decide(
                    .approve,
                    on: asked.id
                )
            else { return #expect(Bool(false)) }
        }
    }

    /// Spec rule 45: it waits for as long as it may, and is charged once in the end.
    @Test func whatMayWaitForLongIsStillDeferredAfterThirtyDays() async throws {
        let policy = AttemptPolicy(callsMax: 3, approvalExpiry: .seconds(60 * 86_400))
        try await withStore(policy: policy) { store in
            let asked = try await deferred(store)
            for _ in 1...30 {
                try await store.recover(after: .seconds(86_400))
                #expect(try await store.load(asked.id) == asked)
            }
            _ = try await store.admin.decide(.approve, on: asked.id)
            try await store.settle()
            #expect(try await store.load(asked.id).state == .purchased)
            #expect(try await store.postings(of: asked.id) == [.purchase])
            #expect(try await store.count("sandbox_processor.charges") == 1)
        }
    }

    @Test func anApprovalOnTheLastMomentIsNotExpired() async throws {
        try await withStore { store in
            let asked = try await deferred(store)
            store.clock.advance(by: .seconds(25 * 3600))
            let due = try await store.outcomes.takeDue(limit: 10)
            #expect(due.map(\.step) == [.awaitingApproval])
            _ = try await store.admin.decide(.approve, on: asked.id)
            _ = try await store.outcomes.settle([
                AttemptResult(key: due[0].key, outcome: .approvalExpired)
            ])
            try await store.settle()
            #expect(try await store.load(asked.id).state == .purchased)
        }
    }

    @Test func whoseStorefrontChangedMeanwhileIsNotChargedInTheOldCurrency() async throws {
        try await withStore { store in
            let asked = try await deferred(store)
            try await store.say(storefront: "FRA")
            for _ in 0..<2 {
                guard case .done(let decided) = try await store.admin.decide(.approve, on: asked.id)
                else { return #expect(Bool(false)) }
                #expect(decided.state == .failed)
                #expect(decided.failureReason == .storefrontChanged)
            }
            try await store.settle()
            try await store.recover(after: .seconds(48 * 3600))
            #expect(try await store.load(asked.id).failureReason == .storefrontChanged)
            #expect(try await store.eventTypes(of: asked.id).last == "transaction.failed.v1")
            #expect(try await store.count("sandbox_processor.charges") == 0)
        }
    }

    @Test func whoseStorefrontIsStillTheSameIsCharged() async throws {
        try await withStore { store in
            try await store.say(storefront: "USA")
            let asked = try await deferred(store)
            _ = try await store.admin.decide(.approve, on: asked.id)
            try await store.settle()
            #expect(try await store.load(asked.id).state == .purchased)
        }
    }

    @Test func nobodyApprovesWhatIsNotThere() async throws {
        try await withStore { store in
            guard
                case .unknown = try await store.admin.decide(
                    .approve,
                    on: TransactionID(number: 1)
                )
            else { return #expect(Bool(false)) }
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct RefundTests {
    @Test func aRefundGivesTheChargeBackOnceAndRevokesTheTransaction() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            for _ in 0..<3 {
                guard case .owed(let attempt, _) = try await store.admin.beginRefund(of: bought.id)
                else { break }
                await store.runner.carryOut([attempt])
            }
            let refunded = try await store.load(bought.id)
            #expect(refunded.state == .purchased)
            #expect(refunded.revokedAt == store.clock.now())
            #expect(refunded.version == bought.version + 1)
            #expect(try await store.postings(of: bought.id) == [.purchase, .refund])
            #expect(try await store.count("sandbox_processor.refunds") == 1)
            #expect(try await store.eventTypes(of: bought.id).last == "transaction.refunded.v1")
            #expect(try await store.booksBalance())
            guard case .done(let again) = try await store.admin.beginRefund(of: bought.id) else {
                return #expect(Bool(false))
            }
            #expect(again == refunded)
        }
    }

    @Test func aRefundThatWasPromisedIsCarriedOutWhateverIsKilled() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            _ = try await store.admin.beginRefund(of: bought.id)
            try await store.recover()
            #expect(try await store.load(bought.id).revokedAt != nil)
            #expect(try await store.count("sandbox_processor.refunds") == 1)
        }
    }

    @Test func aRefundWhoseCommitNeverCameIsFoundByInquiry() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            guard case .owed(let attempt, _) = try await store.admin.beginRefund(of: bought.id)
            else { return #expect(Bool(false)) }
            _ = await store.processor.refund([
                RefundRequest(
                    attemptID: attempt.id,
                    chargeReference: attempt.chargeReference ?? "",
                    amount: attempt.amount
                )
            ])
            try await store.recover()
            #expect(try await store.load(bought.id).revokedAt != nil)
            #expect(try await store.count("sandbox_processor.refunds") == 1)
            #expect(try await store.postings(of: bought.id) == [.purchase, .refund])
        }
    }

    @Test(arguments: [SandboxPaymentMethod.decline, .needsApproval])
    func onlyAPurchaseIsRefunded(method: SandboxPaymentMethod) async throws {
        try await withStore { store in
            let bought = try await store.buy(request(method: method), key: "a")
            let counts = try await store.counts()
            guard case .refused(.notPurchased, _) = try await store.admin.beginRefund(of: bought.id)
            else { return #expect(Bool(false)) }
            #expect(try await store.counts() == counts)
        }
    }

    @Test func whatWasGrantedWithoutAChargeIsRevokedWithoutAPosting() async throws {
        try await withStore { store in
            let first = try await store.buy(request("film"), key: "a")
            let second = try await store.buy(request("film"), key: "b")
            guard case .done(let revoked) = try await store.admin.beginRefund(of: second.id) else {
                return #expect(Bool(false))
            }
            #expect(revoked.revokedAt != nil)
            #expect(try await store.postings(of: second.id).isEmpty)
            #expect(try await store.count("sandbox_processor.refunds") == 0)
            #expect(try await store.load(first.id).revokedAt == nil)
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct GrantTests {
    static let forbidden: [SQL] = [
        "UPDATE ledger_entries SET amount = 1", "DELETE FROM ledger_postings",
        "UPDATE outbox SET type = ''", "DELETE FROM outbox", "DELETE FROM transactions",
        "UPDATE transactions SET account_id = 'bob'", "UPDATE transactions SET currency = 'EUR'",
        "DELETE FROM processor_attempts", "UPDATE processor_attempts SET amount = 1",
        "UPDATE idempotency_keys SET fingerprint = ''", "DELETE FROM idempotency_keys",
        "DELETE FROM ownerships", "DELETE FROM sandbox_processor.charges",
        "UPDATE sandbox_processor.charges SET amount = 1", "TRUNCATE transactions",
        "CREATE TABLE mine (id integer)", "DELETE FROM accounts",
        "UPDATE accounts SET account_id = 'bob'", "DELETE FROM purchase_intents",
        "UPDATE purchase_intents SET product_id = 'film'", "DELETE FROM price_consents",
        "UPDATE price_consents SET price = 1", "UPDATE resumptions SET transaction_id = 1",
        "DELETE FROM resumptions",
    ]

    @Test func theServicesRoleCanDoOnlyWhatTheServiceDoes() async throws {
        try await withStore { store in
            for statement in Self.forbidden {
                let error = await #expect(throws: PostgresError.self) {
                    try await store.client.withConnection { try $0.execute(statement) }
                }
                #expect(error?.code == .insufficientPrivilege, "\(statement.text)")
            }
        }
    }
}
