import EventTypes
import Ledger
import Postgres
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Approvals of deferred transactions (spec rule 35, trap 27).
@Suite(.timeLimit(.minutes(10))) struct ApprovalTests {
    func deferred(_ store: Store) async throws -> Transaction {
        let transaction = try await store.buy(request(method: .needsApproval), key: "a")
        #expect(transaction.state == .deferred)
        return transaction
    }

    @Test func anApprovedTransactionIsCharged() async throws {
        try await withStore { store in
            let asked = try await deferred(store)
            _ = try await store.approvals.decide(.approve, on: asked.id)
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
            _ = try await store.approvals.decide(.approve, on: asked.id)
            _ = store.pending.take()
            try await store.recover()
            #expect(try await store.load(asked.id).state == .purchased)
        }
    }

    @Test func aLateAnswerOfBeforeTheApprovalChangesNothing() async throws {
        try await withStore { store in
            let asked = try await deferred(store)
            _ = try await store.approvals.decide(.approve, on: asked.id)
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
            _ = try await store.approvals.decide(.decline, on: asked.id)
            try await store.recover(after: .seconds(48 * 3600))
            #expect(try await store.load(asked.id).failureReason == .approvalDeclined)
            #expect(try await store.count("sandbox_processor.charges") == 0)
        }
    }

    @Test func theSameWordTwiceIsOneApprovalAndTheOppositeIsRefused() async throws {
        try await withStore { store in
            let asked = try await deferred(store)
            _ = try await store.approvals.decide(.approve, on: asked.id)
            let counts = try await store.counts()
            guard case .done(let again) = try await store.approvals.decide(.approve, on: asked.id)
            else { return #expect(Bool(false)) }
            #expect(again == asked)
            guard
                case .refused(.decidedOtherwise, _) = try await store.approvals.decide(
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
                case .refused(.notDeferred, _) = try await store.approvals.decide(
                    .approve,
                    on: asked.id
                )
            else { return #expect(Bool(false)) }
        }
    }

    /// A deferred payment waits until its approval expires, and is charged once in the end (spec
    /// rule 45).
    @Test func whatMayWaitForLongIsStillDeferredAfterThirtyDays() async throws {
        let policy = AttemptPolicy(callsMax: 3, approvalExpiry: .seconds(60 * 86_400))
        try await withStore(policy: policy) { store in
            let asked = try await deferred(store)
            for _ in 1...30 {
                try await store.recover(after: .seconds(86_400))
                #expect(try await store.load(asked.id) == asked)
            }
            _ = try await store.approvals.decide(.approve, on: asked.id)
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
            _ = try await store.approvals.decide(.approve, on: asked.id)
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
                guard
                    case .done(let decided) = try await store.approvals.decide(
                        .approve,
                        on: asked.id
                    )
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
            _ = try await store.approvals.decide(.approve, on: asked.id)
            try await store.settle()
            #expect(try await store.load(asked.id).state == .purchased)
        }
    }

    @Test func nobodyApprovesWhatIsNotThere() async throws {
        try await withStore { store in
            guard
                case .unknown = try await store.approvals.decide(
                    .approve,
                    on: TransactionID(number: 1)
                )
            else { return #expect(Bool(false)) }
        }
    }
}
