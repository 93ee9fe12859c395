import EventTypes
import Ledger
import Postgres
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Refunds of parts and their reversals, over a database and the sandbox processor.
@Suite(.timeLimit(.minutes(10))) struct PartialRefundTests {
    private func terms(_ amount: Int64, revokes: Bool? = nil, key: String? = nil) -> RefundTerms {
        let request = RefundRequest(amount: usd(amount), revokes: revokes)
        return RefundTerms(
            amount: request.amount,
            revokes: revokes,
            key: key.map {
                UsedKey(
                    idempotencyKey: IdempotencyKey(unchecked: $0),
                    fingerprint: RequestFingerprint.of(request)
                )
            }
        )
    }

    private func done(_ reply: AdminReply) throws -> Transaction {
        guard case .done(let transaction) = reply else { throw PaymentError(.unknownRow) }
        return transaction
    }

    private func refusal(_ reply: AdminReply) -> TransactionRefusal? {
        guard case .refused(let refusal, _) = reply else { return nil }
        return refusal
    }

    @Test func partsAreRefundedUntilNothingIsLeftAndTheTaxAddsUp() async throws {
        let storefront = Storefront(unchecked: "USA")
        try await withStore(tax: TaxRates([storefront: 1900])) { store in
            let bought = try await store.buy(request(), key: "a")
            for number in 1...3 {
                let refunded = try done(try await store.refunds.refund(bought.id, terms(333)))
                #expect(refunded.refunds?.count == number)
                #expect(refunded.refundedAmount == usd(Int64(number) * 333))
                #expect(
                    (refunded.revokedAt != nil) == (number == 3),
                    "Only the last takes it away."
                )
            }
            let balances = try await store.balances()
            #expect(balances["tax_payable"] == 0)
            #expect(balances["buyer"] == 0)
            #expect(balances["store_revenue"] == -(balances["refunds"] ?? 0))
            #expect(try await store.postings(of: bought.id) == [.purchase, .refund])
            #expect(try await store.count("sandbox_processor.refunds") == 3)
            #expect(
                refusal(try await store.refunds.refund(bought.id, terms(1)))
                    == .refundTooLarge(
                        rest: usd(0)
                    )
            )
        }
    }

    @Test func aReversalGivesTheProductAndTheMoneyBackOnce() async throws {
        try await withStore { store in
            let bought = try await store.buy(request("film"), key: "a")
            _ = try await store.refunds.refund(bought.id)
            for _ in 0..<2 {
                let back = try done(try await store.refunds.reverseRefund(1, of: bought.id))
                #expect(back.revokedAt == nil && back.refundedAmount == usd(0))
                #expect(back.version == bought.version + 2)
            }
            #expect(try await store.count("sandbox_processor.reversals") == 1)
            #expect(
                try await store.postings(of: bought.id) == [.purchase, .refund, .refundReversal]
            )
            #expect(
                try await store.eventTypes(of: bought.id).last == "transaction.refund-reversed.v1"
            )
            #expect(try await store.booksBalance())
            // The account owns it again, since its purchase.
            let copy = try await store.buy(request("film"), key: "b")
            #expect(copy.reason == .ownedAgain && copy.originalID == bought.id)
            #expect(copy.originalPurchasedAt == bought.purchasedAt)
            // What came back can be refunded again.
            let again = try done(try await store.refunds.refund(bought.id))
            #expect(again.refunds?.map(\.number) == [1, 2] && again.revokedAt != nil)
            try await store.expectOwnersFollowFromLog()
        }
    }

    @Test func aReversalAfterAnotherPurchaseLeavesThatTheOwner() async throws {
        try await withStore { store in
            let first = try await store.buy(request("film"), key: "a")
            _ = try await store.refunds.refund(first.id)
            let second = try await store.buy(request("film"), key: "b")
            #expect(second.price == usd(999))
            let back = try done(try await store.refunds.reverseRefund(1, of: first.id))
            #expect(back.revokedAt == nil)
            #expect(try await store.buy(request("film"), key: "c").originalID == second.id)
            try await store.expectOwnersFollowFromLog()
        }
    }

    @Test func goodwillLeavesTheProductAndItsOwner() async throws {
        try await withStore { store in
            let bought = try await store.buy(request("film"), key: "a")
            let part = try done(try await store.refunds.refund(bought.id, terms(100)))
            #expect(part.revokedAt == nil)
            #expect(try await store.buy(request("film"), key: "b").reason == .ownedAgain)
            let whole = try done(
                try await store.refunds.refund(bought.id, terms(899, revokes: false))
            )
            #expect(whole.revokedAt == nil && whole.refundedAmount == usd(999))
            let more = RefundTerms(revokes: true)
            #expect(refusal(try await store.refunds.refund(bought.id, more)) == .nothingToRefund)
        }
    }

    @Test func whatTheStoreLeavesIsPaidBackAndKept() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            var context = store.context
            context.leavesRefundedConsumables = true
            let refunds = RefundHandler(context: context, runner: store.runner, didCommit: {})
            let left = try done(try await refunds.refund(bought.id))
            #expect(left.revokedAt == nil && left.refundedAmount == usd(999))
        }
    }

    @Test func oneKeyHasOneEffect() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            for _ in 0..<3 {
                let part = try done(
                    try await store.refunds.refund(bought.id, terms(100, key: "k"))
                )
                #expect(part.refundedAmount == usd(100))
            }
            for other in [terms(101, key: "k"), terms(100, revokes: true, key: "k")] {
                #expect(
                    refusal(try await store.refunds.refund(bought.id, other)) == .refundKeyReused
                )
            }
            _ = try await store.refunds.refund(bought.id, terms(100, key: "l"))
            #expect(try await store.load(bought.id).refundedAmount == usd(200))
        }
    }

    @Test func refundsAtOnceNeverExceedWhatWasPaid() async throws {
        try await withStore(poolSize: 6) { store in
            let bought = try await store.buy(request(), key: "a")
            guard case .accepted = try await store.refunds.beginRefund(of: bought.id, terms(300))
            else {
                return #expect(Bool(false))
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<6 {
                    group.addTask {
                        _ = try await store.refunds.refund(
                            bought.id,
                            self.terms(400, key: "k\(number)")
                        )
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.load(bought.id).refundedAmount == usd(400))
            try await store.recover()
            let after = try await store.load(bought.id)
            #expect(after.refundedAmount == usd(700))
            #expect(
                refusal(try await store.refunds.refund(bought.id, terms(300)))
                    == .refundTooLarge(
                        rest: usd(299)
                    )
            )
            #expect(try await store.booksBalance())
        }
    }

    @Test func aReversalThatWasPromisedIsCarriedOutWhateverIsKilled() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            _ = try await store.refunds.refund(bought.id)
            _ = try await store.refunds.beginReversal(of: 1, of: bought.id)
            try await store.recover()
            #expect(try await store.load(bought.id).revokedAt == nil)
            #expect(try await store.count("sandbox_processor.reversals") == 1)
        }
    }

    @Test func aReversalWhoseCommitNeverCameIsFoundByInquiry() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            _ = try await store.refunds.refund(bought.id)
            guard
                case .accepted(let attempt, _) = try await store.refunds.beginReversal(
                    of: 1,
                    of: bought.id
                )
            else { return #expect(Bool(false)) }
            let call = UndoCall(attempt)
            #expect(await store.processor.outcomes(ofReversing: [call]) != [.unavailable])
            try await store.recover()
            #expect(try await store.load(bought.id).revokedAt == nil)
            #expect(try await store.count("sandbox_processor.reversals") == 1)
            #expect(try await store.booksBalance())
        }
    }

    @Test func theProcessorItselfGivesBackNoMoreThanItTook() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            guard
                case .accepted(let attempt, _) = try await store.refunds.beginRefund(
                    of: bought.id,
                    terms(600)
                )
            else { return #expect(Bool(false)) }
            let calls = [600, 300, 100, 99].map { amount in
                UndoCall(
                    key: CallKey(attemptID: IDSource.random.attempt(at: startTime), kind: .refund),
                    undoes: attempt.undoes ?? "",
                    paymentMethod: attempt.paymentMethod,
                    amount: usd(amount)
                )
            }
            let first = await store.processor.outcomes(ofRefunding: Array(calls.prefix(2)))
            #expect(!first.contains(.unavailable))
            #expect(await store.processor.outcomes(ofRefunding: [calls[2]]) == [.unavailable])
            #expect(
                await store.processor.outcomes(ofRefunding: [calls[3], calls[0]]).contains(
                    .unavailable
                ) == false
            )
            #expect(try await store.count("sandbox_processor.refunds") == 3)
        }
    }
}

extension Store {
    /// The sums of all accounts of the ledger.
    fileprivate func balances() async throws -> [String: Int64] {
        let books = try await client.withConnection { try LedgerStore.trialBalance(on: $0) }
        return Dictionary(
            books.flatMap(\.balances).map { ($0.account, $0.amount.minorUnits) },
            uniquingKeysWith: +
        )
    }
}
