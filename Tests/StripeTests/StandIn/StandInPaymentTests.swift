import AsyncHTTPClient
import EventTypes
import NIOCore
import NIOHTTP1
import Stripe
import StripeStandIn
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StandInPaymentTests {
    /// Presses a button of the bank's page.
    private static func press(_ button: String, of payment: StripePaymentIntent) async throws
        -> HTTPClientResponse
    {
        let page = try #require(payment.nextAction?.redirect?.url)
        let shown = try await HTTPClient.shared.execute(
            HTTPClientRequest(url: page),
            timeout: .seconds(60)
        )
        let html = String(buffer: try await shown.body.collect(upTo: 1 << 16))
        #expect(html.contains("/authenticate/\(payment.id)/\(button)"))
        var request = HTTPClientRequest(url: "\(page)/\(button)")
        request.method = .POST
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        let client = HTTPClient(configuration: configuration)
        do {
            let response = try await client.execute(request, timeout: .seconds(60))
            try await client.shutdown()
            return response
        } catch {
            try await client.shutdown()
            throw error
        }
    }

    @Test func aBuyerWhoConfirmsAtTheBankHasPaid() async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let card = "pm_card_threeDSecure2Required"
            let waiting = try await test.charge("a1", of: customer, card: card)
            #expect(waiting.status == .requiresAction)
            #expect(test.server.entries.isEmpty)
            let response = try await Self.press("complete", of: waiting)
            #expect(response.headers.first(name: "location") == "http://127.0.0.1/back")
            #expect(try await test.client.paymentIntent(waiting.id).status == .succeeded)
            #expect(try await Self.press("complete", of: waiting).status == .conflict)
            #expect(test.server.entries.count == 1)
        }
    }

    @Test func aBuyerWhoDoesNotConfirmHasNotPaid() async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let card = "pm_card_threeDSecure2Required"
            let waiting = try await test.charge("a1", of: customer, card: card)
            _ = try await Self.press("fail", of: waiting)
            let failed = try await test.client.paymentIntent(waiting.id)
            #expect(failed.status == .requiresPaymentMethod)
            #expect(failed.lastPaymentError?.code == "payment_intent_authentication_failure")
            #expect(test.server.entries.isEmpty)
        }
    }

    @Test func aRenewalThatNeedsTheBuyerFailsWithThatAdvice() async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let card = "pm_card_authenticationRequired"
            let failed = try await failure {
                try await test.charge("a1", of: customer, card: card, session: .away)
            }
            #expect(failed?.kind == .declined(.paymentDeclined, .authenticate))
        }
    }

    @Test(arguments: [true, false])
    func aPaymentInProcessEndsEitherWay(succeeds: Bool) async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let open = try await test.charge("a1", of: customer, card: "pm_standInProcessing")
            #expect(open.status == .processing)
            let cancel = try await failure {
                let key = StripeIdempotencyKey(attempt: "a1", kind: .cancel)
                return try await test.client.cancelPaymentIntent(open.id, key: key)
            }
            #expect(cancel?.kind == .stateForbids)
            try test.server.end(payment: open.id, succeeds: succeeds)
            let ended = try await test.client.paymentIntent(open.id)
            #expect(ended.status == (succeeds ? .succeeded : .requiresPaymentMethod))
            #expect(test.server.entries.count == (succeeds ? 1 : 0))
        }
    }

    @Test func aPaymentThatSucceededIsNotCancelled() async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let paid = try await test.charge("a1", of: customer)
            let key = StripeIdempotencyKey(attempt: "a1", kind: .cancel)
            let refused = try await failure {
                try await test.client.cancelPaymentIntent(paid.id, key: key)
            }
            #expect(refused?.kind == .stateForbids)
            #expect(refused?.error?.paymentIntent?.status == "succeeded")
        }
    }

    @Test func refundsNeverExceedThePayment() async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let paid = try await test.charge("a1", of: customer)
            func refund(_ attempt: String, _ wire: Int64) async throws -> StripeRefund {
                try await test.client.createRefund(
                    of: paid.id,
                    ProcessorAmount(wire: wire, currency: "usd"),
                    metadata: ["attempt": attempt],
                    key: StripeIdempotencyKey(attempt: attempt, kind: .refund)
                )
            }
            let part = try await refund("r1", 500)
            #expect(part.status == "succeeded")
            #expect(try await refund("r1", 500) == part)
            let tooMuch = try await failure { try await refund("r2", 500) }
            #expect(tooMuch?.kind == .mistaken)
            let rest = try await refund("r3", 499)
            let nothingLeft = try await failure { try await refund("r4", 1) }
            #expect(nothingLeft?.kind == .stateForbids)
            #expect(try await test.client.refunds(of: paid.id).data == [rest, part])
            let moved = test.server.entries.filter { $0.kind == "refund" }.map(\.amount)
            #expect(moved.sorted() == [499, 500])
        }
    }

    @Test func aRefundMayFailDaysLater() async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let paid = try await test.charge("a1", of: customer, card: "pm_card_refundFail")
            let refund = try await test.client.createRefund(
                of: paid.id,
                paid.asked,
                metadata: ["attempt": "r1"],
                key: StripeIdempotencyKey(attempt: "r1", kind: .refund)
            )
            try test.server.end(refund: refund.id, succeeds: false)
            let failed = try await test.client.refund(refund.id)
            #expect(failed.status == "failed")
            #expect(failed.failureReason != nil)
            #expect(test.server.entries.map(\.kind) == ["charge"])
            let movements = try await test.client.balanceTransactions(StripeListRequest()).data
            #expect(movements.map(\.type) == ["refund_failure", "refund", "charge"])
            #expect(movements.reduce(0) { $0 + $1.amount } == 999)
        }
    }

    @Test func aDisputeTakesTheMoneyAndAWonOneBringsItBack() async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let paid = try await test.charge("a1", of: customer, card: "pm_card_createDispute")
            let refused = try await failure { try await test.refund(paid, "r1") }
            #expect(refused?.kind == .stateForbids)
            try test.server.endDispute(of: paid.id, isWon: true)
            let movements = try await test.client.balanceTransactions(StripeListRequest()).data
            #expect(movements.map(\.amount) == [999, -999, 999])
            let events = try await test.client.events(StripeListRequest()).data.map(\.type)
            #expect(
                events.filter { $0.contains("dispute") } == [
                    "charge.dispute.closed", "charge.dispute.funds_reinstated",
                    "charge.dispute.funds_withdrawn", "charge.dispute.created",
                ]
            )
        }
    }

    @Test(arguments: [true, false])
    func onlyWhatWasWonCanBeRefundedAfterADispute(isWon: Bool) async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let paid = try await test.charge("a1", of: customer, card: "pm_card_createDispute")
            try test.server.endDispute(of: paid.id, isWon: isWon)
            let refused = try await failure { try await test.refund(paid, "r1") }
            let expected: StripeFailure.Kind? = isWon ? nil : .stateForbids
            #expect(refused?.kind == expected)
            #expect(test.server.succeededRefunds.count == (isWon ? 1 : 0))
            // It is not disputed again.
            #expect(throws: (any Error).self) { try test.server.dispute(payment: paid.id) }
        }
    }

    @Test func aBankDisputesOnlyWhatWasNotRefundedIfAskedTo() async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let paid = try await test.charge("a1", of: customer)
            let other = try await test.charge("a2", of: customer)
            let refund = try await test.client.createRefund(
                of: paid.id,
                paid.asked,
                metadata: [:],
                key: StripeIdempotencyKey(attempt: "r1", kind: .refund)
            )
            #expect(test.server.succeededRefunds.map(\.payment) == [paid.id])
            #expect(try !test.server.disputeUnrefunded(payment: paid.id, isInquiry: false))
            try test.server.end(refund: refund.id, succeeds: false)
            #expect(test.server.succeededRefunds.isEmpty)
            #expect(try !test.server.disputeUnrefunded(payment: paid.id, isInquiry: false))
            #expect(try test.server.disputeUnrefunded(payment: other.id, isInquiry: false))
            #expect(try !test.server.disputeUnrefunded(payment: other.id, isInquiry: false))
            #expect(test.server.withdrawn == [other.id: 999])
        }
    }

    @Test func whatABankOnlyInquiresAboutCanBeRefunded() async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let paid = try await test.charge("a1", of: customer)
            #expect(try test.server.disputeUnrefunded(payment: paid.id, isInquiry: true))
            let refund = try await test.client.createRefund(
                of: paid.id,
                paid.asked,
                metadata: [:],
                key: StripeIdempotencyKey(attempt: "r1", kind: .refund)
            )
            #expect(refund.status == "succeeded")
        }
    }

    @Test func aSavedCardPaysWhileItsBuyerIsAway() async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let setup = try await test.client.createSetupIntent(
                customer: customer,
                metadata: [:],
                key: StripeIdempotencyKey(attempt: "s1", kind: .setup)
            )
            #expect(setup.status == "requires_payment_method")
            // The app does this with the client secret.
            var request = HTTPClientRequest(url: "\(test.url)/v1/setup_intents/\(setup.id)/confirm")
            request.method = .POST
            request.headers.add(name: "authorization", value: "Bearer \(StandInUnderTest.key)")
            let card = "pm_card_authenticationRequiredOnSetup"
            request.body = .bytes(Array("payment_method=\(card)".utf8))
            _ = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            let saved = try #require(try await test.client.setupIntent(setup.id).paymentMethod)
            let paid = try await test.charge("a1", of: customer, card: saved.id, session: .away)
            #expect(paid.status == .succeeded)
            let other = try await test.customer("eve")
            let stolen = try await failure {
                try await test.charge("a2", of: other, card: saved.id, session: .away)
            }
            #expect(stolen?.kind == .declined(.paymentDeclined, .otherMethod))
            let none = try await failure { try await test.charge("a3", of: other, card: "pm_none") }
            #expect(none?.kind == .declined(.paymentDeclined, .otherMethod))
            #expect(none?.error?.paymentIntent == nil)
            #expect(test.server.entries.map(\.attempt) == ["a1"])
            // Nothing was made that would have to be given up.
            let left = try await test.client.paymentIntents(ofCustomer: other, StripeListRequest())
            #expect(left.data.isEmpty)
        }
    }
}
