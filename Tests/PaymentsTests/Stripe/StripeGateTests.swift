import Logging
import Stripe
import Testing

@testable import Payments

/// The way of calls to Stripe, after one that Stripe did not take.
@Suite struct StripeGateTests {
    private let gate = StripeGate(
        rate: 100,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    )

    /// Makes a call that Stripe refuses.
    private func refuse(_ lane: RateShares.Lane, status: Int) async {
        await #expect(throws: StripeFailure(.accessRefused, status: status)) {
            try await gate.pass(lane) { () async throws(StripeFailure) -> Int in
                throw StripeFailure(.accessRefused, status: status)
            }
        }
    }

    @Test func aPermissionThatIsMissingStopsNoOtherCalls() async throws {
        await refuse(.inquiries, status: 403)
        for lane in RateShares.Lane.allCases {
            let answer = try await gate.pass(lane) { () async throws(StripeFailure) in 1 }
            #expect(answer == 1)
        }
    }

    @Test func aKeyThatIsNotTakenStopsAllCalls() async {
        await refuse(.inquiries, status: 401)
        for lane in RateShares.Lane.allCases {
            await #expect(throws: StripeFailure.self) {
                try await gate.pass(lane) { () async throws(StripeFailure) in 1 }
            }
        }
    }
}
