import EventTypes
import Stripe
import StripeStandIn
import TestSupport
import Testing

@testable import Payments

/// Refunds at a stand-in for Stripe.
@Suite(.timeLimit(.minutes(3))) struct StripeRefundTests {
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
