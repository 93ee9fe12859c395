import EventTypes
import Ledger
import Stripe
import StripeStandIn
import TestSupport
import Testing

@testable import Payments

/// Refunds at a stand-in for Stripe.
@Suite(.timeLimit(.minutes(10))) struct StripeRefundTests {
    @Test(arguments: [
        StandInFault.Kind?.none, .lostBefore, .lostAfter, .errorBefore, .errorAfter, .rateLimit,
    ])
    func aRefundIsMadeOnce(fault: StandInFault.Kind?) async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save())
            if let fault {
                store.standIn.inject(StandInFault(fault, path: "/v1/refunds", method: "POST"))
            }
            _ = try await store.refunds.refund(bought.id)
            for _ in 0..<4 { try await store.recover() }
            // An error that Stripe keeps is doubted for an hour.
            try await store.recover(after: SpentKeys.doubt)
            #expect(try await store.load(bought.id).revokedAt != nil)
            #expect(store.standIn.entries.map(\.kind) == ["charge", "refund"])
            #expect(store.paid == 0)
        }
    }

    @Test func aRefundThatIsPendingIsWaitedFor() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save("pm_card_pendingRefund"))
            _ = try await store.refunds.refund(bought.id)
            #expect(try await store.load(bought.id).revokedAt == nil)
            let refund = try await store.stripe.refunds(
                of: try #require(try await store.charge(of: bought.id).reference).rawValue
            )
            try store.standIn.end(refund: try #require(refund.data.first).id, succeeds: true)
            try await store.recover(after: .seconds(60))
            #expect(try await store.load(bought.id).revokedAt != nil)
        }
    }

    @Test func aRefundThatFailsLaterIsReversedOnceAndMadeAgain() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save())
            _ = try await store.refunds.refund(bought.id)
            #expect(try await store.load(bought.id).revokedAt != nil)
            try await store.failRefund(of: bought.id)
            let kept = try await store.load(bought.id)
            #expect(kept.revokedAt == nil)
            #expect(kept.refunds?.map(\.number) == [1] && kept.refunds?.first?.reversedAt != nil)
            // The purchase, its refund, and the reversal.
            #expect(try await store.counts("ledger_postings") == [3])
            let again = try await store.refunds.refund(bought.id)
            guard case .done = again else {
                Issue.record("\(again)")
                return
            }
            let returned = try await store.load(bought.id)
            #expect(returned.revokedAt != nil && returned.refunds?.map(\.number) == [1, 2])
            #expect(store.paid == 0)
            try await store.readMovements()
            let returns = try await store.list("processor_returns").map(\.amount)
            #expect(returns.sorted() == [-999, 999, 999])
        }
    }

    @Test func theReturnOfAStrayChargeThatFailsLaterIsMadeAgain() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(
                by: try await store.save("pm_card_threeDSecure2Required")
            )
            let charge = try await store.charge(of: bought.id)
            // As if the answer to the end of the charge had been wrong.
            try await store.runner.settle(.declined(.paymentDeclined, advice: nil), of: charge)
            let reference = try #require(charge.reference).rawValue
            try store.standIn.end(payment: reference, succeeds: true)
            try await store.hearAll()
            await store.runner.drain()
            #expect(store.paid == 0)
            try await store.failRefund(of: bought.id)
            #expect(store.paid == 999)
            try await store.recover(after: .seconds(3600))
            #expect(store.paid == 0)
            // The stray charge and its return.
            #expect(try await store.counts("ledger_postings") == [2])
        }
    }

    @Test func aRunningPeriodComesBackIfItsRefundFailsLater() async throws {
        try await withStripeStore { store in
            let first = try await store.subscribe(by: try await store.save())
            _ = try await store.refunds.refund(first.id)
            #expect(try await store.subscription().state == .revoked)
            try await store.failRefund(of: first.id)
            let subscription = try await store.subscription()
            #expect(subscription.state == .active)
            #expect(subscription.period.transactionID == first.id)
            #expect(try await store.load(first.id).revokedAt == nil)
            #expect(
                try await store.postings(of: first.id) == [.purchase, .refund, .refundReversal]
            )
            try await store.recover(after: .seconds(3600))
            #expect(store.paid == 299)
        }
    }

    /// Otherwise the buyer would have neither the money nor the service.
    @Test(arguments: LostPeriod.allCases)
    func aPeriodThatDoesNotComeBackIsPaidUntilItsBuyerHasTheMoney(
        period: LostPeriod
    ) async throws {
        try await withStripeStore { store in
            let id = try await period.prepare(store)
            let subscription = try await store.subscription()
            let others = store.paid
            // The second refund fails as well.
            for _ in 0..<2 {
                try await store.failRefund(of: id)
                #expect(store.paid == others + 299)
                let refunds = try await store.load(id).refunds
                #expect(refunds?.map(\.number) == [1] && refunds?.first?.reversedAt == nil)
                // It is under way: nothing is left to refund.
                _ = try await store.refunds.refund(id)
                #expect(store.paid == others + 299)
                try await store.recover(after: .seconds(3600))
                #expect(store.paid == others)
            }
            #expect(try await store.load(id).revokedAt != nil)
            #expect(try await store.postings(of: id) == [.purchase, .refund])
            #expect(try await store.subscription() == subscription)
        }
    }

    /// The buyer waits for money that never comes, and asks the bank for it.
    @Test func aDisputeOfWhatWasRefundedIsBookedOnceTheRefundFails() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save())
            _ = try await store.refunds.refund(bought.id)
            let payment = try #require(try await store.charge(of: bought.id).reference).rawValue
            try store.standIn.dispute(payment: payment)
            try await store.hearAll()
            #expect(try await store.counts("processor_disputes") == [1])
            #expect(try await store.postings(of: bought.id) == [.purchase, .refund])
            try await store.failRefund(of: bought.id)
            let kinds = Set(try await store.postings(of: bought.id))
            #expect(kinds == [.purchase, .refund, .refundReversal, .chargeback])
            #expect(try await store.counts("ledger_postings") == [4])
            let disputed = try await store.load(bought.id)
            #expect(disputed.revokedAt != nil && disputed.refundedAmount == usd(999))
            try await store.readMovements()
            let returned = try await store.list("processor_returns").map(\.amount)
            #expect(returned.reduce(0, +) == 999)
        }
    }

    @Test func aRefundIsNotTakenBack() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save())
            _ = try await store.refunds.refund(bought.id)
            let reply = try await store.refunds.reverseRefund(1, of: bought.id)
            guard case .refused(.reversalFailed(number: 1), _) = reply else {
                Issue.record("\(reply)")
                return
            }
            #expect(try await store.load(bought.id).revokedAt != nil)
            #expect(store.paid == 0)
        }
    }

    @Test func aDisputedChargeIsNotRefunded() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save("pm_card_createDispute"))
            guard case .refused = try await store.refunds.refund(bought.id) else {
                throw PaymentError(.unknownRow)
            }
            #expect(try await store.load(bought.id).revokedAt == nil)
            #expect(store.standIn.entries.map(\.kind) == ["charge"])
        }
    }
}

/// A refunded period that a reversal does not give back.
enum LostPeriod: CaseIterable {
    case boughtAgain, paidInAdvance, over

    /// Buys what is needed and refunds it.
    ///
    /// - Returns: The transaction that was refunded.
    fileprivate func prepare(_ store: StripeStore) async throws -> TransactionID {
        let card = try await store.save()
        let first = try await store.subscribe(by: card).id
        let end = try #require(try await store.load(first).subscription?.end)
        let left = end.duration(since: store.clock.now())
        guard self == .paidInAdvance else {
            _ = try await store.refunds.refund(first)
            if self == .over {
                store.clock.advance(by: left + .seconds(1))
            } else {
                try await store.add(by: card, key: "again", for: "club", at: usd(299))
                await store.carryOut()
                #expect(try await store.subscription().state == .active)
            }
            return first
        }
        store.clock.advance(by: left - .seconds(86_400))
        try await store.renew()
        let next = try await store.newest().id
        #expect(next != first)
        _ = try await store.refunds.refund(next)
        return next
    }
}

extension StripeStore {
    /// Lets the newest refund of a transaction fail, of which Stripe tells twice.
    fileprivate func failRefund(of id: TransactionID) async throws {
        let charge = try #require(try await self.charge(of: id).reference)
        let refunds = try await stripe.refunds(of: charge.rawValue).data
        try standIn.end(refund: try #require(refunds.first).id, succeeds: false)
        for _ in 0..<2 { try await hearAll() }
    }

    /// Takes in all events, the newest first.
    fileprivate func hearAll() async throws {
        try await events.store(try await stripe.events(StripeListRequest()).data)
        try await applyEvents()
    }
}
