import EventTypes
import StoreAPI
import StripeStandIn
import Synchronization
import TestSupport
import Testing

@testable import Payments

/// The search for lost tries in the lists of a stand-in for Stripe.
@Suite(.timeLimit(.minutes(10))) struct StripeSearchTests {
    @Test func aLostChargeIsFoundByItsPeriodAndHandedOver() async throws {
        try await withStripeStore { store in
            let (card, time) = (try await store.save(), store.clock.machineNow())
            let third = try CallKey.ofRenewal(3)
            let outcome = try await store.renew(by: card, third)
            guard case .charged = outcome else {
                return #expect(Bool(false), "It was not charged: \(outcome)")
            }
            #expect(
                try await store.search(.ofRenewal(2, period: 3), by: card, since: time) == .nothing
            )
            #expect(try await store.search(.ofRenewal(4), by: card, since: time) == .nothing)
            #expect(store.standIn.entries.map(\.transaction) == ["9"])
            let found = try await store.search(.ofRenewal(2), by: card, since: time)
            #expect(found == .found(third.attemptID))
            #expect(store.standIn.entries.map(\.transaction) == ["12"])
            #expect(store.standIn.entries.map(\.attempt) == ["\(third.attemptID)"])
        }
    }

    /// The store has given a part back, and somebody the rest on Stripe's own pages.
    @Test func whatWasGivenBackOfALostChargeIsFoundWithIt() async throws {
        try await withStripeStore { store in
            let (card, time) = (try await store.save(), store.clock.machineNow())
            let second = try CallKey.ofRenewal(2)
            guard case .charged(let charge, _) = try await store.renew(by: card, second) else {
                return #expect(Bool(false), "It was not charged")
            }
            let own = CallKey(
                attemptID: IDSource.random.attempt(at: startTime),
                kind: .refund,
                generation: 3
            )
            let form = "payment_intent=\(charge.rawValue)"
            try await store.post(
                "/v1/refunds",
                form + "&amount=100&metadata[attempt]=\(own.attemptID)&metadata[key]=\(own)"
            )
            try await store.post("/v1/refunds", form + "&amount=899")
            let refunds = try await store.lostRefunds(by: card, since: time)
            #expect(refunds.map(\.amount) == [usd(100), usd(899)])
            #expect(refunds.map(\.id) == [own.attemptID, nil])
            #expect(refunds.map(\.generation) == [3, 1])
            #expect(refunds.map(\.charge) == [charge, charge])
            let last = try #require(refunds.last)
            try store.standIn.end(refund: last.reference.rawValue, succeeds: false)
            let rest = try await store.lostRefunds(by: card, since: time)
            #expect(rest.map(\.amount) == [usd(100)], "no money moved by the other")
        }
    }

    /// A card may have been declined by one try, and another one charged by the next.
    @Test func aTryThatWasDeclinedIsNotTakenOver() async throws {
        try await withStripeStore { store in
            let time = store.clock.machineNow()
            let bad = try await store.save("pm_card_chargeDeclined")
            _ = try await store.renew(by: bad, CallKey.ofRenewal(1))
            #expect(try await store.search(.ofRenewal(1), by: bad, since: time) == .nothing)
            let good = try await store.save()
            let second = try CallKey.ofRenewal(2)
            _ = try await store.renew(by: good, second)
            let found = try await store.search(.ofRenewal(1), by: bad, since: time)
            #expect(found == .found(second.attemptID), "the list is the buyer's")
        }
    }

    @Test func aTryThatIsUnderWayIsTakenOver() async throws {
        try await withStripeStore { store in
            let (card, time) = (
                try await store.save("pm_standInProcessing"), store.clock.machineNow()
            )
            let first = try CallKey.ofRenewal(1)
            _ = try await store.renew(by: card, first)
            let found = try await store.search(first, by: card, since: time)
            #expect(found == .found(first.attemptID))
        }
    }

    @Test func withoutAnAnswerNothingIsCertain() async throws {
        try await withStripeStore { store in
            let (card, time) = (try await store.save(), store.clock.machineNow())
            store.standIn.inject(
                StandInFault(.rateLimit, path: "/v1/payment_intents", method: "GET")
            )
            #expect(try await store.search(.ofRenewal(1), by: card, since: time) == .unavailable)
            #expect(try await store.search(.ofRenewal(1), by: card, since: time) == .nothing)
        }
    }
}

extension CallKey {
    /// The key of a try to charge for a period.
    static func ofRenewal(_ attempt: Int, period: Int = 2) throws -> CallKey {
        let id = AttemptID(
            of: RenewalChargeKey(
                subscriptionID: TransactionID(number: 77),
                period: period,
                epoch: 1,
                attempt: attempt
            )
        )
        return CallKey(attemptID: try #require(id), kind: .charge)
    }
}

extension StripeStore {
    /// Searches for the lost tries of a period.
    func search(
        _ key: CallKey,
        by card: PaymentMethod,
        since time: MachineTime
    ) async throws -> PeriodFinding {
        let found = Mutex<PeriodFinding?>(nil)
        let search = PeriodSearch(
            attemptID: key.attemptID,
            transactionID: TransactionID(number: 12),
            paymentMethod: card,
            since: time
        )
        await charging.search([search]) { _, finding in found.withLock { $0 = finding } }
        return try #require(found.withLock { $0 })
    }

    /// The refunds of the charge that a first try finds.
    fileprivate func lostRefunds(
        by card: PaymentMethod,
        since time: MachineTime
    ) async throws -> [LostRefund] {
        let found = try await search(.ofRenewal(1), by: card, since: time)
        guard case .found(_, let refunds) = found else { throw PaymentError(.unknownRow) }
        return refunds
    }
}
