import EventTypes
import Foundation
import NIOHTTP1
import StripeStandIn
import TestSupport
import Testing

@testable import Stripe

/// Cards that make trouble, and the controls of the stand-in.
@Suite(.timeLimit(.minutes(10)))
struct StandInTroubleTests {
    /// Saves a card of the customer's, and returns its id.
    private func save(_ card: String, of customer: String, at test: StandInUnderTest) async throws
        -> String
    {
        let setup = try await test.client.createSetupIntent(
            customer: customer,
            metadata: [:],
            key: StripeIdempotencyKey(attempt: card, kind: .setup)
        )
        let answer = try await StoreHTTP.send(
            .POST,
            "\(test.url)/v1/setup_intents/\(setup.id)/confirm",
            headers: [("authorization", "Bearer \(StandInUnderTest.key)")],
            body: Array("payment_method=\(card)".utf8)
        )
        #expect(answer.status == 200)
        let saved = try await test.client.setupIntent(setup.id)
        return try #require(saved.paymentMethod?.id)
    }

    @Test(arguments: [
        ("pm_standInLostBefore", 1), ("pm_standInLostAfter", 1), ("pm_standInDown", 2),
        ("pm_standInRateLimit", 2),
    ])
    func aCardTroublesItsFirstCallsAndPaysOnce(card: String, times: Int) async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let saved = try await save(card, of: customer, at: test)
            for _ in 0..<times {
                let failure = try await failure {
                    try await test.charge("a1", of: customer, card: saved)
                }
                #expect(failure != nil)
            }
            let paid = try await test.charge("a1", of: customer, card: saved)
            #expect(paid.status == .succeeded)
            #expect(test.server.entries.map(\.kind) == ["charge"])
        }
    }

    @Test func aCardIsDeclinedFourTimesWhileItsBuyerIsAwayAndThenPays() async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let saved = try await save("pm_standInRecovers", of: customer, at: test)
            _ = try await test.charge("a0", of: customer, card: saved)
            for number in 1...4 {
                let failure = try await failure {
                    try await test.charge("a\(number)", of: customer, card: saved, session: .away)
                }
                #expect(failure?.kind == .declined(.insufficientFunds, .later))
            }
            _ = try await test.charge("a5", of: customer, card: saved, session: .away)
            #expect(test.server.entries.count == 2)
        }
    }

    @Test func aCallThatIsNeverAnsweredDoesNothing() async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            test.server.inject(StandInFault(.silent))
            let failure = try await test.failureOfHurriedCharge("a1", of: customer)
            #expect(failure?.kind == .unknown && failure?.status == nil)
            #expect(test.server.entries.isEmpty)
            // Its key was never seen.
            _ = try await test.charge("a1", of: customer, card: "pm_card_mastercard")
            #expect(test.server.entries.map(\.attempt) == ["a1"])
        }
    }

    @Test func whatIsProcessedEndsByItself() async throws {
        var options = StandInOptions()
        options.processingSeconds = 0
        try await StandInUnderTest.run(options) { test in
            let customer = try await test.customer()
            let begun = try await test.charge("a1", of: customer, card: "pm_standInProcessing")
            #expect(begun.status == .processing)
            try await eventually("the charge") { test.server.entries.isEmpty ? nil : true }
        }
    }

    /// A word that is not understood must not do anything, least of all open a dispute.
    @Test(arguments: [
        ("disputes", "id=PAID&outcome=wonn"), ("disputes", "id=PAID&outcom=won"),
        ("payments", "id=PAID&outcome=fail"), ("refunds", "id=PAID&outcome=lost"),
        ("faults", "kind=lost"), ("faults", "kind=down&time=1"), ("nothing", "id=PAID"),
    ])
    func aMisspeltControlIsRefused(control: String, form: String) async throws {
        try await StandInUnderTest.run { test in
            let customer = try await test.customer()
            let paid = try await test.charge("a1", of: customer)
            let answer = try await StoreHTTP.send(
                .POST,
                "\(test.url)/control/\(control)",
                body: Array(form.replacing("PAID", with: paid.id).utf8)
            )
            #expect(answer.status == 400)
            #expect(test.server.withdrawn.isEmpty)
            let dispute = try await StoreHTTP.send(
                .POST,
                "\(test.url)/control/disputes",
                body: Array("id=\(paid.id)".utf8)
            )
            #expect(dispute.status == 204)
            #expect(test.server.withdrawn == [paid.id: 999])
        }
    }
}
