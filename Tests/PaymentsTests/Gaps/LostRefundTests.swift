import EventTypes
import Ledger
import StoreAPI
import Subscriptions
import Synchronization
import TestSupport
import Testing

@testable import Payments

/// Charges that were made and given back in the time that a backup does not know (decision 79).
@Suite(.timeLimit(.minutes(5))) struct LostRefundTests {
    /// Lives a life until a backup, and one in which the renewal is charged and given back.
    ///
    /// - Parameters:
    ///   - amounts: The refunds, one after the other.
    ///   - restored: The life with the backup.
    /// - Throws: An error of a life.
    private func givingBack(
        _ amounts: [Int64],
        _ restored: @Sendable (Store) async throws -> Void
    ) async throws {
        try await restoring { store in
            _ = try await store.buy(request("club", price: usd(299)), key: "1")
        } losing: { store in
            try await store.advance(days: 31)
            let renewal = try #require(try await store.transactions().last)
            for amount in amounts {
                let key = IdempotencyKey(unchecked: "refund-\(amount)")
                let terms = RefundTerms(
                    amount: usd(amount),
                    key: UsedKey(idempotencyKey: key, fingerprint: [1])
                )
                _ = try await store.refunds.refund(renewal.id, terms)
            }
            let refunded = try await store.load(renewal.id).refundedAmount
            #expect(refunded == usd(amounts.reduce(0, +)))
        } _: { store in
            try await restored(store)
        }
    }

    @Test(arguments: [[299], [100, 199]] as [[Int64]])
    func aPeriodThatWasRefundedIsChargedAndRefundedOnce(amounts: [Int64]) async throws {
        try await givingBack(amounts) { store in
            try await store.renew()
            #expect(store.processor.searchesAsked == 1 && store.processor.chargesAsked == 0)
            let renewal = try #require(try await store.transactions().last)
            #expect(renewal.state == .purchased && renewal.revokedAt != nil)
            #expect(renewal.refunds?.map(\.amount) == amounts.map { usd($0) })
            #expect(renewal.refunds?.last?.revokes == true)
            #expect(try await store.subscription().state == .revoked)
            let causes = try await store.subscriptionChanges().map(\.cause)
            #expect(causes.prefix(2) == [.purchased, .renewed] && causes.last == .refunded)
            #expect(try await store.postings(of: renewal.id) == [.purchase, .refund])
            // Nothing is owed, and nothing is left to give back.
            try await store.advance(days: 40)
            guard case .done = try await store.refunds.refund(renewal.id) else {
                return #expect(Bool(false), "Something was refunded")
            }
            #expect(store.processor.chargesAsked == 0)
        }
    }

    @Test func aPeriodThatWasRefundedInPartStaysPaid() async throws {
        try await givingBack([100]) { store in
            try await store.renew()
            let renewal = try #require(try await store.transactions().last)
            #expect(renewal.state == .purchased && renewal.revokedAt == nil)
            #expect(renewal.refundedAmount == usd(100))
            #expect(try await store.subscription().state == .active)
            #expect(store.processor.chargesAsked == 0)
        }
    }

    /// The price has fallen, so the lost charge buys nothing.
    @Test(arguments: [[299], [100]] as [[Int64]])
    func ofALostChargeThatIsStrayOnlyTheRestIsReturned(amounts: [Int64]) async throws {
        try await givingBack(amounts) { store in
            try await store.sell(club(price: usd(199), version: 2))
            try await store.renew()
            #expect(store.processor.chargesAsked == 0)
            let renewal = try #require(try await store.transactions().last)
            #expect(renewal.state == .failed)
            let postings = try await store.postings(of: renewal.id)
            #expect(postings == [.strayCharge, .strayChargeReturn])
        }
    }

    /// The process is killed after it has found the charge, and another one asks about the refund first.
    @Test func aRefundWaitsForItsLostCharge() async throws {
        try await givingBack([299]) { store in
            #expect(try await store.renewals.carryOut(limit: 10) == 1)
            let attempt = try #require(store.pending.take().first)
            let (id, refunds) = try await store.lost(before: attempt)
            let ended = try await store.outcomes.endDoubt(
                of: [(attempt: attempt, lost: id, refunds: refunds)]
            )
            let refund = try #require(ended.refunds.first)
            let reference = try #require(refund.reference)
            _ = try await store.outcomes.settle([
                AttemptResult(key: refund.key, outcome: .refunded(reference: reference))
            ])
            #expect(try await store.transactions().last?.state == .purchasing)
            for _ in 0..<4 { try await store.recover(after: .seconds(30)) }
            let renewal = try #require(try await store.transactions().last)
            #expect(renewal.state == .purchased && renewal.revokedAt != nil)
            #expect(try await store.postings(of: renewal.id) == [.purchase, .refund])
            #expect(store.processor.chargesAsked == 0)
        }
    }
}

extension Store {
    /// The answer of a search for an attempt.
    fileprivate func lost(
        before attempt: ProcessorAttempt
    ) async throws -> (id: AttemptID, refunds: [LostRefund]) {
        let found = Mutex<PeriodFinding?>(nil)
        let search = try #require(PeriodSearch(attempt, besides: []))
        await processor.search([search]) { _, finding in found.withLock { $0 = finding } }
        guard case .found(let id, let refunds)? = found.withLock({ $0 }) else {
            throw PaymentError(.unknownRow)
        }
        return (id, refunds)
    }
}
