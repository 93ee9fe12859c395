import EventTypes
import Foundation
import Postgres
import ServiceKit
import StoreAPI
import Stripe
import StripeStandIn
import TestSupport
import Testing

@testable import Payments

/// A key of Stripe's test mode, which only `make stripe-sandbox` sets.
private let sandboxKey = ProcessInfo.processInfo.environment["COUNTERFOIL_STRIPE_SANDBOX_KEY"]

/// Charges at Stripe itself, in its test mode: `make stripe-sandbox`.
///
/// Nobody has run it yet. Everything else is tested against a stand-in.
@Suite(
    .serialized,
    .enabled(if: sandboxKey != nil, "only make stripe-sandbox calls Stripe"),
    .timeLimit(.minutes(10))
)
struct StripeSandboxTests {
    @Test func aPurchaseIsChargedAndGivenBackThere() async throws {
        try await withSandbox { store in
            let bought = try await store.buy(by: try await store.save())
            #expect(bought.state == .purchased)
            let charge = try await store.charge(of: bought.id)
            #expect(try await store.intents(of: charge).map(\.status) == [.succeeded])
            _ = try await store.refunds.refund(bought.id)
            try await store.recover()
            #expect(try await store.load(bought.id).revokedAt != nil)
            let reference = try #require(charge.reference).rawValue
            let refunds = try await store.stripe.refunds(of: reference).data
            #expect(refunds.map(\.amount) == [999])
        }
    }

    @Test func aDeclineFailsThePaymentAndNothingCanBeConfirmedLater() async throws {
        try await withSandbox { store in
            let card = try await store.attach("pm_card_chargeCustomerFail")
            let bought = try await store.buy(by: card)
            #expect(bought.state == .failed && bought.failureReason == .paymentDeclined)
            let charge = try await store.charge(of: bought.id)
            #expect(try await store.intents(of: charge).map(\.status) == [.canceled])
        }
    }

    /// Nobody can act on the page here, so the buyer leaves it.
    @Test func theBuyerIsToldThePageAndWhatIsLeftIsEnded() async throws {
        try await withSandbox { store in
            let card = try await store.attach("pm_card_threeDSecure2Required")
            let bought = try await store.buy(by: card)
            #expect(bought.state == .purchasing)
            let reply = try await store.actions.action(of: bought.id, of: alice.accountKey)
            if case .act(let action, _) = reply {
                #expect(action.url.hasPrefix("https://"))
            } else {
                Issue.record("\(reply)")
            }
            try await store.recover(after: .seconds(3601))
            #expect(try await store.load(bought.id).failureReason == .interrupted)
            let charge = try await store.charge(of: bought.id)
            #expect(try await store.intents(of: charge).map(\.status) == [.canceled])
        }
    }

    @Test func aRenewalForWhichTheBankWantsToSeeTheBuyerIsDeclined() async throws {
        try await withSandbox { store in
            let card = try await store.attach("pm_card_authenticationRequired")
            let outcome = try await store.renew(by: card)
            guard case .declined(_, let advice) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(advice == .authenticate)
        }
    }

    @Test func aCallThatIsRepeatedUnderItsKeyChargesOnce() async throws {
        try await withSandbox { store in
            let (card, key) = (try await store.save(), store.renewalKey)
            let first = try await store.renew(by: card, key)
            let second = try await store.renew(by: card, key)
            guard case .charged(let reference, let amount) = first else {
                Issue.record("\(first)")
                return
            }
            #expect(amount == usd(999))
            #expect(second == .charged(reference: reference, amount: amount))
        }
    }

    @Test func whatWasChargedIsOnTheListOfMovements() async throws {
        try await withSandbox { store in
            let bought = try await store.buy(by: try await store.save())
            let attempt = try await store.charge(of: bought.id).id
            try await store.readMovements()
            let charges = try await store.list("processor_charges")
            #expect(charges.filter { $0.attempt == attempt }.map(\.amount) == [999])
        }
    }

    /// Runs a test on a fresh database, with Stripe's test mode.
    private func withSandbox(
        _ body: @escaping @Sendable (StripeStore) async throws -> Void
    ) async throws {
        let key = try #require(sandboxKey)
        try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
            try await database.withClient(role: PaymentsMigrations.role, poolSize: 4) { client in
                // A live key is refused here. The stand-in is not started.
                let store = try StripeStore(
                    client: client,
                    standIn: StandInServer(),
                    url: "https://api.stripe.com",
                    key: key
                )
                do {
                    try await store.sell(product())
                    try await body(store)
                } catch {
                    await store.stripe.shutDown()
                    throw error
                }
                await store.stripe.shutDown()
            }
        }
    }
}

extension StripeStore {
    private struct Attached: Decodable {
        let id: String
    }

    /// Saves a card of alice's without a setup, at which a bank may ask for her already.
    fileprivate func attach(_ card: String) async throws -> PaymentMethod {
        let account = alice.accountKey
        let setup = try await methods.begin(for: account)
        let customer = try #require(try await stripe.setupIntent(setup.id).customer?.id)
        let answer = try await post("/v1/payment_methods/\(card)/attach", "customer=\(customer)")
        let id = try JSONDecoder().decode(Attached.self, from: answer).id
        let saved = try #require(try await stripe.paymentMethod(id).card)
        let method = SavedPaymentMethod(
            token: PaymentMethod(rawValue: id),
            brand: saved.brand,
            lastFour: saved.lastFour,
            expiryMonth: saved.expiryMonth,
            expiryYear: saved.expiryYear,
            mandate: setup.id
        )
        let time = clock.machineNow()
        try await client.withConnection { connection in
            try PaymentMethodStore.insert(
                method,
                of: account,
                in: .default,
                at: time,
                on: connection
            )
        }
        return method.token
    }
}
