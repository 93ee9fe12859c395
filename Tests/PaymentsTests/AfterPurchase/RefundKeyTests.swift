import EventTypes
import Postgres
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Keyed requests for a refund that make no attempt: they come again, and do nothing.
@Suite(.timeLimit(.minutes(10))) struct RefundKeyTests {
    private func all(_ key: String, revokes: Bool? = nil) -> RefundTerms {
        RefundTerms(
            revokes: revokes,
            key: UsedKey(
                idempotencyKey: IdempotencyKey(unchecked: key),
                fingerprint: RequestFingerprint.of(RefundRequest(revokes: revokes))
            )
        )
    }

    @Test func aKeyThatFoundNothingLeftRefundsNothingAfterAReversal() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            for key in ["first", "second"] {
                _ = try await store.refunds.refund(bought.id, all(key))
            }
            _ = try await store.refunds.reverseRefund(1, of: bought.id)
            for key in ["first", "second"] {
                guard case .done = try await store.refunds.refund(bought.id, all(key)) else {
                    return #expect(Bool(false), "It has taken effect before.")
                }
            }
            #expect(try await store.load(bought.id).refundedAmount == usd(0))
            #expect(try await store.count("sandbox_processor.refunds") == 1)
            // A new request is a new refund.
            _ = try await store.refunds.refund(bought.id, all("third"))
            #expect(try await store.load(bought.id).refundedAmount == usd(999))
        }
    }

    @Test func aKeyThatFoundAnOpenRefundRefundsNothingElse() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            for key in ["first", "second", "second"] {
                let reply = try await store.refunds.beginRefund(of: bought.id, all(key))
                guard case .accepted(let attempt, _) = reply, attempt.number == 1 else {
                    return #expect(Bool(false), "The first refund is not confirmed yet.")
                }
            }
            try await store.recover()
            _ = try await store.refunds.reverseRefund(1, of: bought.id)
            _ = try await store.refunds.refund(bought.id, all("second"))
            #expect(try await store.load(bought.id).refundedAmount == usd(0))
            #expect(try await store.count("sandbox_processor.refunds") == 1)
        }
    }

    @Test func aKeyThatTookAFreeProductAwayTakesItAwayOnce() async throws {
        try await withStore { store in
            try await store.sell(product("gift", .nonConsumable, price: usd(0)))
            let free = try await store.buy(request("gift", price: usd(0)), key: "a")
            _ = try await store.refunds.refund(free.id, all("key"))
            _ = try await store.refunds.reverseRefund(1, of: free.id)
            _ = try await store.refunds.refund(free.id, all("key"))
            let kept = try await store.load(free.id)
            #expect(kept.revokedAt == nil && kept.refunds?.count == 1)
            guard
                case .refused(.refundKeyReused, _) = try await store.refunds.refund(
                    free.id,
                    all("key", revokes: true)
                )
            else { return #expect(Bool(false), "The key was used for another request.") }
        }
    }
}
