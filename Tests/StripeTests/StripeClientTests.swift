import ClockAndIDs
import EventTypes
import Logging
import StripeStandIn
import TestSupport
import Testing

@testable import Stripe

@Suite(.timeLimit(.minutes(10)))
struct StripeClientTests {
    @Test func aBuyerIsChargedInOneCall() async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let before = test.server.calls
            let payment = try await test.charge("a1", of: customer)
            #expect(test.server.calls == before + 1)
            #expect(payment.status == .succeeded)
            #expect(payment.received == payment.asked)
            #expect(payment.asked == ProcessorAmount(wire: 999, currency: "usd"))
            #expect(payment.metadata["attempt"] == "a1")
            #expect(payment.latestCharge?.id.hasPrefix("ch_") == true)
            #expect(!payment.isLive)
            #expect(try await test.client.paymentIntent(payment.id) == payment)
            #expect(test.server.entries.map(\.attempt) == ["a1"])
        }
    }

    @Test(arguments: [
        ("pm_card_chargeDeclined", FailureReason.paymentDeclined, DeclineAdvice.later),
        ("pm_card_visa_chargeDeclinedInsufficientFunds", .insufficientFunds, .later),
        ("pm_card_visa_chargeDeclinedStolenCard", .paymentDeclined, .never),
        ("pm_card_chargeDeclinedExpiredCard", .paymentDeclined, .otherMethod),
    ])
    func aDeclineHasItsReasonAndItsPayment(
        card: String,
        reason: FailureReason,
        advice: DeclineAdvice
    ) async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let failed = try await failure { try await test.charge("a1", of: customer, card: card) }
            #expect(failed?.kind == .declined(reason, advice))
            #expect(failed?.requestID?.hasPrefix("req_") == true)
            // A payment that was declined can be confirmed later, unless it is given up.
            let id = try #require(failed?.error?.paymentIntent?.id)
            #expect(try await test.client.paymentIntent(id).status == .requiresPaymentMethod)
            let key = StripeIdempotencyKey(attempt: "a1", kind: .cancel)
            #expect(try await test.client.cancelPaymentIntent(id, key: key).status == .canceled)
            #expect(test.server.entries.isEmpty)
        }
    }

    @Test(arguments: [
        StandInFault.Kind.lostBefore, .lostAfter, .lostMidway, .errorBefore, .errorAfter, .down,
    ])
    func aLostAnswerIsUnknownAndTheSameKeyChargesOnce(_ kind: StandInFault.Kind) async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            test.server.inject(StandInFault(kind, path: "/v1/payment_intents"))
            let lost = try await failure { try await test.charge("a1", of: customer) }
            #expect(lost?.kind == .unknown)
            let again = try await failure { try await test.charge("a1", of: customer) }
            let isStored = kind == .errorBefore || kind == .errorAfter
            #expect(again?.kind == (isStored ? .unknown : nil))
            let found = try await test.client.paymentIntents(
                ofAttempt: "a1",
                customer: customer,
                firstCalled: .now()
            )
            // Stripe answers a stored failure for ever; the inquiry tells what was done.
            #expect(found.count == (kind == .errorBefore ? 0 : 1))
            #expect(test.server.entries.count == found.count)
        }
    }

    @Test func aKeyInUseIsThrottledAndChargesOnce() async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            test.server.inject(StandInFault(.slow(.seconds(25)), path: "/v1/payment_intents"))
            let before = test.server.calls
            async let first = test.charge("a1", of: customer)
            try await eventually("the first call") { test.server.calls > before ? true : nil }
            let second = try await failure { try await test.charge("a1", of: customer) }
            #expect(second?.kind == .throttled(after: nil))
            let payment = try await first
            #expect(try await test.charge("a1", of: customer) == payment)
            #expect(test.server.entries.count == 1)
        }
    }

    @Test(arguments: [StandInFault.Kind.rateLimit, .lockTimeout])
    func aRefusalForLoadKeepsNoKey(_ kind: StandInFault.Kind) async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            test.server.inject(StandInFault(kind, path: "/v1/payment_intents"))
            let refused = try await failure { try await test.charge("a1", of: customer) }
            #expect(refused?.kind == .throttled(after: nil))
            #expect(try await test.charge("a1", of: customer).status == .succeeded)
            #expect(test.server.entries.count == 1)
        }
    }

    @Test func anotherRequestUnderAKeyIsABugAndChargesNothing() async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            _ = try await test.charge("a1", of: customer)
            let misused = try await failure {
                try await test.charge("a1", of: customer, card: "pm_card_mastercard")
            }
            #expect(misused?.kind == .keyMisused)
            #expect(test.server.entries.count == 1)
        }
    }

    @Test(arguments: [StandInFault.Kind.slow(.seconds(30)), .stalled, .dripping])
    func aCallThatTakesTooLongIsUnknown(_ kind: StandInFault.Kind) async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            test.server.inject(StandInFault(kind, path: "/v1/payment_intents"))
            let start = ContinuousClock().now
            let lost = try await test.failureOfHurriedCharge("a1", of: customer)
            // A body that drips would take minutes.
            #expect(start.duration(to: ContinuousClock().now) < .seconds(120))
            #expect(lost?.kind == .unknown)
            let found = try await eventually(within: .seconds(120), "the charge to be made") {
                try await test.client.paymentIntents(
                    ofAttempt: "a1",
                    customer: customer,
                    firstCalled: .now()
                ).first
            }
            #expect(found.status == .succeeded)
        }
    }

    @Test func nobodyThereIsUnknown() async throws {
        let key = try StripeKey(StandInUnderTest.key, environment: .sandbox)
        let client = StripeClient(
            StripeClient.Settings(baseURL: "http://127.0.0.1:\(try freePort())"),
            logger: StandInUnderTest.quiet
        ) { key }
        let lost = try await failure { try await client.paymentIntent("pi_1") }
        #expect(lost?.kind == .unknown)
        await client.shutDown()
    }

    @Test(arguments: ["", "pi_1/cancel", "pi_1?x=y", "../refunds", "pi 1", "pi_ä"])
    func anIDThatIsNoneIsNeverCalled(id: String) async throws {
        try await StandInUnderTest.run { test in
            let missing = try await failure { try await test.client.paymentIntent(id) }
            #expect(missing?.kind == .missing)
            #expect(test.server.calls == 0)
        }
    }

    @Test func anInquiryReadsEveryPage() async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let other = try await test.customer("eve")
            for number in 0..<105 { _ = try await test.charge("a\(number)", of: customer) }
            _ = try await test.charge("b1", of: other)
            func found(_ attempt: String) async throws -> [String?] {
                try await test.client.paymentIntents(
                    ofAttempt: attempt,
                    customer: customer,
                    firstCalled: .now()
                ).map { $0.metadata["attempt"] }
            }
            #expect(try await found("a0") == ["a0"])
            #expect(try await found("a104") == ["a104"])
            #expect(try await found("b1").isEmpty)
        }
    }

    @Test func anInquiryFindsAPaymentOfAMachineWhoseClockIsAhead() async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let payment = try await test.charge("a1", of: customer)
            let found = try await test.client.paymentIntents(
                ofAttempt: "a1",
                customer: customer,
                firstCalled: .now().advanced(by: .seconds(1800))
            )
            #expect(found == [payment])
        }
    }

    @Test func theBalanceIsWhatIsAvailableAndWhatIsPending() async throws {
        try await StandInUnderTest.run { test in
            #expect(try await test.client.balance().totals == [.init(wire: 0, currency: "usd")])
            let customer = try await test.customer()
            _ = try await test.charge("a1", of: customer)
            #expect(try await test.client.balance().totals == [.init(wire: 941, currency: "usd")])
            try test.server.payOut("usd")
            _ = try await test.charge("a2", of: customer)
            let balance = try await test.client.balance()
            #expect(balance.available.map(\.amount) == [-941])
            #expect(balance.totals == [.init(wire: 941, currency: "usd")])
        }
    }

    @Test func theLogsHaveNoSecret() async throws {
        let log = TextLog()
        try await StandInUnderTest.run(logger: log.logger) { test in
            let customer = try await test.customer()
            let payment = try await test.charge("a1", of: customer)
            #expect(payment.clientSecret?.text.contains("_secret_") == true)
            test.server.inject(StandInFault(.lostAfter))
            _ = try await failure { try await test.charge("a2", of: customer) }
            _ = try await failure {
                try await test.charge("a3", of: customer, card: "pm_card_chargeDeclined")
            }
            #expect(!"\(payment)".contains("_secret_"))
        }
        let text = log.text
        #expect(text.contains("a1-charge-0"))
        #expect(text.contains("req_"))
        #expect(!text.contains(StandInUnderTest.key))
        #expect(!text.contains("_secret_"))
    }
}
