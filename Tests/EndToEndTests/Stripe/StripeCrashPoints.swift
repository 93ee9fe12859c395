import EventTypes
import StoreAPI
import StripeStandIn
import TestSupport
import Testing

extension EndToEnd {
    /// Kills while a store settles what Stripe has done later, of which webhooks tell.
    @Suite
    struct StripeCrashPoints {
        /// The commit that changes a transaction; movements of Stripe's list change none.
        private static let settlement = PostgresProxy.Point.beforeCommit(
            ofTransactionWith: "refunds = u.refunds"
        )

        @Test func aChargeThatStripeMakesLaterIsSettledOnce() async throws {
            try await withStripe { store, stripe in
                let hold = try store.hold(.payments, Self.settlement)
                let payment = try await store.buy(by: .processing)
                try await store.crash(.payments, at: hold)
                try await store.expectWhole([payment])
                #expect(stripe.server.entries.map(\.kind) == ["charge"])
            }
        }

        @Test func aRefundThatStripeMakesLaterIsSettledOnce() async throws {
            try await withStripe { store, stripe in
                let payment = try await store.buy(by: .refundPending)
                try await store.expectWhole([payment])
                let id = payment.transactionID
                let hold = try store.hold(.payments, Self.settlement)
                async let asked = store.administrator.refund(id)
                try await store.crash(.payments, at: hold)
                // Its answer may be lost. Whoever asks again gives nothing back twice.
                _ = try? await asked
                _ = try await store.administrator.refund(id)
                try await store.expectOne("refund", of: id)
                #expect(stripe.server.entries.map(\.kind) == ["charge", "refund"])
            }
        }

        @Test func aRefundThatFailsLaterIsReversedOnce() async throws {
            try await withStripe { store, stripe in
                let payment = try await store.buy()
                try await store.expectWhole([payment])
                let id = payment.transactionID
                _ = try await store.administrator.refund(id)
                try await store.expectOne("refund", of: id)
                let refunds = stripe.server.refunds(ofTransaction: id.rawValue)
                let hold = try store.hold(.payments, Self.settlement)
                try stripe.server.end(refund: try #require(refunds.last), succeeds: false)
                try await store.crash(.payments, at: hold)
                // The event is taken again when the dead process' minute with it is over.
                try await store.expectOne("refund_reversal", of: id, within: .seconds(120))
                #expect(stripe.server.entries.map(\.kind) == ["charge"])
                let story = try await store.counterfoil("why", id.rawValue)
                #expect(story.output.contains("could not make the last refund"), "\(story.output)")
                // The buyer can be paid once more.
                _ = try await store.administrator.refund(id)
                try await eventually(
                    every: .milliseconds(200),
                    "another refund, and books that agree"
                ) {
                    () async throws -> Bool? in
                    let found = try await store.reconcile()
                    guard found.differences.isEmpty,
                        stripe.server.entries.map(\.kind) == ["charge", "refund"]
                    else { return nil }
                    let books = found.transactions?.first { $0.id == id }
                    return books?.entry?.refunds.map(\.number) == [1, 2] ? true : nil
                }
                let proof = try await store.verify()
                #expect(proof.exit == .code(0), "\(proof.output)")
            }
        }

        @Test func aDisputeThatAWebhookTellsOfIsBookedOnce() async throws {
            try await withStripe { store, stripe in
                let payment = try await store.buy()
                try await store.expectWhole([payment])
                let id = payment.transactionID
                let charge = try #require(stripe.server.payment(ofTransaction: id.rawValue))
                let hold = try store.hold(
                    .payments,
                    .beforeCommit(ofTransactionWith: "INTO processor_disputes")
                )
                try stripe.server.dispute(payment: charge)
                try await store.crash(.payments, at: hold)
                // The event is taken again when the dead process' minute with it is over.
                try await store.expectOne("chargeback", of: id, within: .seconds(120))
            }
        }

        /// Runs a store that charges at a stand-in for Stripe, with a proxy before its database.
        private func withStripe(
            _ body: @escaping @Sendable (StoreHarness, StoreStripe) async throws -> Void
        ) async throws {
            var options = StoreOptions.with(postgresProxies: [.payments])
            options.processor = .stripe
            try await withStore(options) { store in
                try await store.importSampleCatalog()
                try await body(store, try #require(store.stripe))
            }
        }
    }
}
