import EventTypes
import Ledger
import Postgres
import StoreAPI
import Stripe
import StripeStandIn
import TestSupport
import Testing

@testable import Payments

/// Disputes of charges at a stand-in for Stripe.
@Suite(.timeLimit(.minutes(10))) struct DisputeTests {
    @Test func aDisputeTakesTheProductAndAWonOneBringsItBack() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save())
            let payment = try #require(try await store.charge(of: bought.id).reference).rawValue
            try store.standIn.dispute(payment: payment)
            try await store.hearEvents()
            let disputed = try await store.load(bought.id)
            #expect(disputed.revokedAt != nil)
            #expect(disputed.refunds?.map(\.amount) == [usd(999)])
            #expect(disputed.refunds?.first?.dispute?.hasPrefix("dp_") == true)
            #expect(try await store.postings(of: bought.id) == [.purchase, .chargeback])
            let refused = try await store.refunds.reverseRefund(1, of: bought.id)
            guard case .refused(.refundIsDisputed(number: 1), _) = refused else {
                Issue.record("\(refused)")
                return
            }

            try store.standIn.endDispute(of: payment, isWon: true)
            for _ in 0..<3 { try await store.hearEvents() }
            let won = try await store.load(bought.id)
            #expect(won.revokedAt == nil && won.refundedAmount.isZero)
            #expect(
                try await store.postings(of: bought.id)
                    == [.purchase, .chargeback, .chargebackReversal]
            )
            try await store.readMovements()
            #expect(try await store.list("processor_returns").reduce(0) { $0 + $1.amount } == 0)
            #expect(try await store.balances()[.processorPayments] == -999)
        }
    }

    @Test func afterAWonDisputeTheBuyerIsRefundedOnce() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save())
            let payment = try #require(try await store.charge(of: bought.id).reference).rawValue
            try store.standIn.dispute(payment: payment)
            try await store.hearEvents()
            // As long as the bank has the money, nothing is left to refund.
            _ = try await store.refunds.refund(bought.id)
            #expect(store.standIn.succeededRefunds.isEmpty)
            try store.standIn.endDispute(of: payment, isWon: true)
            try await store.hearEvents()
            for _ in 0..<2 { _ = try await store.refunds.refund(bought.id) }
            #expect(try await store.load(bought.id).revokedAt != nil)
            #expect(
                try await store.postings(of: bought.id)
                    == [.purchase, .chargeback, .chargebackReversal, .refund]
            )
            #expect(store.standIn.succeededRefunds.count == 1)
            #expect(store.paid == 0)
            try await store.readMovements()
            #expect(try await store.list("processor_returns").map(\.amount).reduce(0, +) == 999)
            #expect(try await store.balances()[.processorPayments] ?? 0 == 0)
        }
    }

    @Test func aDisputeThatIsLostStaysBooked() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save("pm_card_createDispute"))
            let payment = try #require(try await store.charge(of: bought.id).reference).rawValue
            try store.standIn.endDispute(of: payment, isWon: false)
            try await store.hearEvents()
            #expect(try await store.load(bought.id).revokedAt != nil)
            try await store.readMovements()
            #expect(try await store.list("processor_returns").map(\.amount) == [999])
            #expect(try await store.balances()[.processorPayments] ?? 0 == 0)
        }
    }

    @Test func anInquiryMovesNothing() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save())
            let payment = try #require(try await store.charge(of: bought.id).reference).rawValue
            try store.standIn.dispute(payment: payment, isInquiry: true)
            try await store.hearEvents()
            #expect(try await store.load(bought.id) == bought)
            #expect(try await store.counts("processor_disputes") == [1])
            try store.standIn.endDispute(of: payment, isWon: true)
            try await store.hearEvents()
            #expect(try await store.load(bought.id) == bought)
        }
    }

    @Test func onlyWhatWasNotRefundedIsTakenBack() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save())
            _ = try await store.refunds.refund(bought.id, RefundTerms(amount: usd(400)))
            let payment = try #require(try await store.charge(of: bought.id).reference).rawValue
            try store.standIn.dispute(payment: payment)
            try await store.hearEvents()
            let refunds = try #require(try await store.load(bought.id).refunds)
            #expect(refunds.map(\.amount) == [usd(400), usd(599)])
            #expect(refunds.map { $0.dispute == nil } == [true, false])
            // Nothing is left for another refund.
            _ = try await store.refunds.refund(bought.id)
            #expect(store.standIn.entries.map(\.kind) == ["charge", "refund"])
        }
    }

    @Test(arguments: [
        (["needs_response", "lost", "needs_response", "under_review"], "lost"),
        (["needs_response", "prevented", "needs_response"], "prevented"),
        (["lost", "appeal_needs_response", "appeal_under_review"], "appeal_under_review"),
        (["won", "appeal_needs_response", "lost", "under_review"], "lost"),
    ])
    func onlyAnAppealOpensADisputeThatHasEnded(told: [String], end: String) async throws {
        try await withStripeStore { store in
            let time = store.clock.machineNow()
            let subject = ProcessorSubject(
                transactionID: TransactionID(number: 77),
                id: IDSource.random.attempt(at: store.clock.now())
            )
            for status in told {
                let dispute = ProcessorDispute(
                    id: "dp_1",
                    charge: subject,
                    amount: usd(999),
                    stage: .withdrawn,
                    status: status,
                    reason: "fraudulent",
                    openedAt: time,
                    answerBy: nil
                )
                _ = try await store.client.withTransaction {
                    try DisputeStore.save(dispute, at: time, on: $0)
                }
            }
            let status = try await store.client.withConnection { connection in
                try connection.query("SELECT status FROM processor_disputes")
                    .map { try $0.decode(String.self) }
            }
            #expect(status == [end])
        }
    }

    @Test func aDisputedPeriodEndsItsSubscriptionUntilTheDisputeIsWon() async throws {
        try await withStripeStore { store in
            let bought = try await store.subscribe(by: try await store.save())
            let payment = try #require(try await store.charge(of: bought.id).reference).rawValue
            try store.standIn.dispute(payment: payment)
            try await store.hearEvents()
            #expect(try await store.subscription().state == .revoked)
            #expect(try await !store.subscription().isAutoRenewOn)
            #expect(try await store.postings(of: bought.id) == [.purchase, .chargeback])
            try store.standIn.endDispute(of: payment, isWon: true)
            for _ in 0..<2 { try await store.hearEvents() }
            #expect(try await store.subscription().state == .active)
            #expect(try await !store.subscription().isAutoRenewOn)
            #expect(try await store.load(bought.id).revokedAt == nil)
            #expect(
                try await store.postings(of: bought.id)
                    == [.purchase, .chargeback, .chargebackReversal]
            )
        }
    }

    @Test func aDisputedSubscriptionIsNotRenewed() async throws {
        try await withStripeStore { store in
            let bought = try await store.subscribe(by: try await store.save())
            let end = try #require(try await store.load(bought.id).subscription?.end)
            let payment = try #require(try await store.charge(of: bought.id).reference).rawValue
            try store.standIn.dispute(payment: payment)
            try await store.hearEvents()
            store.clock.advance(by: end.duration(since: store.clock.now()) + .seconds(1))
            try await store.renew()
            #expect(try await store.newest().id == bought.id)
            #expect(store.standIn.entries.filter { $0.kind == "charge" }.count == 1)
        }
    }

    /// A charge that was rebuilt from the log has the id zero.
    @Test func aDisputeFindsAChargeThatWasRebuilt() async throws {
        try await withStripeStore { store in
            let id = TransactionID(number: 77)
            let rebuilt = ProcessorAttempt(
                transactionID: id,
                kind: .charge,
                id: AttemptID(bytes: .zero),
                step: .settled,
                paymentMethod: "",
                amount: usd(999),
                end: .charged
            )
            let asked = IDSource.random.attempt(at: store.clock.now())
            let time = store.clock.machineNow()
            let (before, after) = try await store.client.withTransaction { connection in
                let before = try AttemptStore.hasCharge(asked, of: id, at: .default, on: connection)
                try AttemptStore.insert(
                    [rebuilt],
                    owner: LeaseOwner(time: time),
                    calledFrom: time,
                    on: connection
                )
                let after = try AttemptStore.hasCharge(asked, of: id, at: .default, on: connection)
                return (before, after)
            }
            #expect(!before && after)
        }
    }

    @Test func anAccountHasOnlyTheChargesOfItsOwnCards() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save())
            let (id, attempt) = (bought.id, try await store.charge(of: bought.id).id)
            let games = ProcessorAccountName(rawValue: "games")
            try await store.client.withConnection { connection in
                for (name, isOwn) in [(ProcessorAccountName.default, true), (games, false)] {
                    let found = try AttemptStore.find(attempt, of: id, at: name, on: connection)
                    let isFound = try AttemptStore.hasCharge(
                        attempt,
                        of: id,
                        at: name,
                        on: connection
                    )
                    #expect((found != nil) == isOwn && isFound == isOwn, "\(name)")
                }
            }
        }
    }

    @Test func aDisputeOfAForeignChargeIsCountedOnly() async throws {
        try await withStripeStore { store in
            try await store.post(
                "/v1/payment_intents",
                "amount=500&currency=usd&payment_method=pm_card_createDispute&confirm=true"
            )
            try await store.hearEvents()
            #expect(try await store.counts("processor_events") != [0])
            #expect(try await store.counts("processor_events WHERE applied_at IS NULL") == [0])
            #expect(try await store.counts("processor_disputes") == [0])
        }
    }
}

extension StripeStore {
    /// Reads the list of events, and applies them.
    func hearEvents() async throws {
        clock.advance(by: .seconds(301))
        try await events.readList(pause: .seconds(300))
        try await applyEvents()
    }

    /// The kinds of the postings of a transaction.
    func postings(of id: TransactionID) async throws -> [PostingKind] {
        try await client.withConnection { try LedgerStore.postings(of: id, on: $0).map(\.kind) }
    }
}
