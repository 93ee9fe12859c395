import EventTypes
import Ledger
import StoreAPI
import StoreTracing
import Subscriptions
import TestSupport
import Testing

@testable import Payments

/// The effect of a refund on a subscription, by what is refunded: a table.
@Suite(.timeLimit(.minutes(10))) struct RefundedPeriodTests {
    /// A period that is refunded, with what the refund does.
    enum Period: CaseIterable {
        case running, partOfRunning, older, paidInAdvance, over, upgraded

        /// The state of the subscription afterwards.
        var state: SubscriptionState {
            switch self {
            case .running: .revoked
            case .over: .expired
            case .partOfRunning, .older, .paidInAdvance, .upgraded: .active
            }
        }

        /// The cause that is published, from which the notifications follow.
        var cause: SubscriptionCause {
            switch self {
            case .running: .refunded
            case .over: .lastPeriodRefunded
            case .paidInAdvance: .nextPeriodRefunded
            case .partOfRunning, .older, .upgraded: .moneyRefunded
            }
        }

        /// The amount to refund; `nil` for the rest.
        var amount: Money? { self == .partOfRunning ? usd(100) : nil }

        /// The refunds of the transaction, with those that the store owed before.
        var refunds: Int { self == .upgraded ? 2 : 1 }

        /// Buys what is needed, and returns the transaction to refund.
        func prepare(_ store: Store) async throws -> TransactionID {
            try await store.sell(club(level: 2), club("gold", level: 1, price: usd(599)))
            let bought = try await store.buy(request("club", price: usd(299)), key: "a")
            switch self {
            case .running, .partOfRunning: return bought.id
            case .older:
                try await store.advance(days: 40)
                return bought.id
            case .paidInAdvance:
                let end = try await store.subscription().period.end
                let days = Int(end.duration(since: store.clock.now()).components.seconds / 86_400)
                // The first charge is made a day before the end.
                try await store.advance(days: days - 1)
                let next = try await store.subscription().period
                #expect(next.start > store.clock.now(), "It is paid and has not begun.")
                return next.transactionID
            case .over:
                _ = try await store.subscriptions.decide(
                    .autoRenew(false),
                    on: bought.id,
                    trace: .begin()
                )
                try await store.advance(days: 40)
                return bought.id
            case .upgraded:
                try await store.advance(days: 10)
                try await store.buy(request("gold", price: usd(599)), key: "b")
                return bought.id
            }
        }
    }

    @Test(arguments: Period.allCases)
    func itsEffectFollowsFromWhatIsRefunded(period: Period) async throws {
        try await withStore { store in
            let id = try await period.prepare(store)
            let wasEntitled = try await store.subscription().isEntitled(at: store.clock.now())
            let terms = RefundTerms(
                amount: period.amount,
                key: period.amount.map { _ in
                    UsedKey(idempotencyKey: IdempotencyKey(unchecked: "r"), fingerprint: [1])
                }
            )
            _ = try await store.refunds.refund(id, terms)
            let subscription = try await store.subscription()
            #expect(subscription.state == period.state)
            #expect(
                subscription.isEntitled(at: store.clock.now())
                    == (period != .running && wasEntitled)
            )
            #expect(try await store.subscriptionChanges().last?.cause == period.cause)
            let refunded = try await store.load(id)
            #expect(refunded.refunds?.count == period.refunds)
            #expect(refunded.refundedAmount == period.amount ?? refunded.price)
            #expect(try await store.booksBalance())
            // The helper takes each refund of an upgraded period for one that the upgrade owed.
            if period != .upgraded { #expect(try await store.auditFindings() == []) }
        }
    }

    /// A reversal gives the running period back, and never one that is over.
    @Test(arguments: [false, true])
    func aReversalGivesBackWhatStillRuns(isOver: Bool) async throws {
        try await withStore { store in
            let id = try await Period.running.prepare(store)
            _ = try await store.refunds.refund(id)
            if isOver { try await store.advance(days: 40) }
            _ = try await store.refunds.reverseRefund(1, of: id, by: nil)
            let subscription = try await store.subscription()
            #expect(subscription.state == (isOver ? .expired : .active))
            #expect(!subscription.isAutoRenewOn, "Nobody is charged again without asking.")
            #expect(try await store.subscriptionChanges().last?.cause == .refundReversed)
            #expect(try await store.load(id).refundedAmount.isZero)
            #expect(try await store.booksBalance())
            #expect(try await store.postings(of: id) == [.purchase, .refund, .refundReversal])
        }
    }

    /// A purchase that came after a refund stays, if the refund is reversed.
    @Test func aReversalAfterANewPurchaseMovesMoneyOnly() async throws {
        try await withStore { store in
            let id = try await Period.running.prepare(store)
            _ = try await store.refunds.refund(id)
            let again = try await store.buy(request("club", price: usd(299)), key: "again")
            _ = try await store.refunds.reverseRefund(1, of: id, by: nil)
            let subscription = try await store.subscription()
            #expect(subscription.state == .active)
            #expect(subscription.period.transactionID == again.id)
            #expect(try await store.booksBalance())
        }
    }
}
