import EventTypes
import StoreAPI
import Testing

@testable import Payments

/// The payment methods that tests of apps have charged.
@Suite struct SimulatedChargesTests {
    private static let app = BundleID(unchecked: "com.example.app")
    private static let ada = AccountKey(accountID: AccountID(unchecked: "ada"), bundleID: app)
    private static let bob = AccountKey(accountID: AccountID(unchecked: "bob"), bundleID: app)

    private func charges(
        _ change: (inout TestSettingsDocument) -> Void
    ) -> SimulatedCharges {
        var settings = TestSettingsDocument(bundleID: Self.app)
        change(&settings)
        return SimulatedCharges([Self.ada: settings])
    }

    private func method(
        _ charges: inout SimulatedCharges,
        _ account: AccountKey = ada,
        isRenewal: Bool = false
    ) -> SandboxPaymentMethod? {
        SandboxPaymentMethod(
            charges.method(
                insteadOf: SandboxPaymentMethod.slow.method,
                of: account,
                isRenewal: isRenewal
            )
        )
    }

    @Test func anAccountThatNobodyTestsPaysAsItAsked() {
        var charges = charges { $0.failNext = SimulatedFailure(.declined) }
        #expect(method(&charges, Self.bob) == .slow)
        #expect(charges.changed.isEmpty)
    }

    @Test(arguments: [
        (SimulatedFailure.Reason.declined, SandboxPaymentMethod.decline),
        (.insufficientFunds, .insufficientFunds), (.cancelled, .cancelled),
        (.interrupted, .interrupted),
    ])
    func theNextChargeFailsOnce(
        reason: SimulatedFailure.Reason,
        expected: SandboxPaymentMethod
    ) {
        var charges = charges { $0.failNext = SimulatedFailure(reason) }
        #expect(method(&charges) == expected)
        #expect(method(&charges) == .slow)
        #expect(charges.changed[Self.ada]?.failNext == nil)
        #expect(charges.changed.count == 1)
    }

    @Test func failuresAreCountedDown() {
        var charges = charges { $0.failNext = SimulatedFailure(.declined, times: 3) }
        #expect(method(&charges, isRenewal: true) == .decline)
        #expect(charges.changed[Self.ada]?.failNext?.times == 2)
        #expect(method(&charges) == .decline)
        #expect(charges.changed[Self.ada]?.failNext?.times == 1)
    }

    @Test func purchasesAskAndAreInterruptedAndRenewalsAreDeclined() {
        var asking = charges { $0.asksToBuy = true }
        #expect(method(&asking) == .needsApproval && method(&asking, isRenewal: true) == .slow)
        var interrupting = charges { $0.interruptsPurchases = true }
        #expect(method(&interrupting) == .interrupted)
        #expect(method(&interrupting, isRenewal: true) == .slow)
        var declining = charges { $0.declinesRenewals = true }
        #expect(method(&declining) == .slow && method(&declining, isRenewal: true) == .decline)
    }
}
