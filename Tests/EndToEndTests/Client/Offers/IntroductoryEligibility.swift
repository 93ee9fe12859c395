import EventTypes
import Foundation
import PaymentQueue
import StoreAPI
import Testing
import TestSupport

extension EndToEnd.PaymentQueues {
    /// The client library, while the merchant's server decides about the introductory offer.
    @Suite(.serialized)
    struct IntroductoryEligibility {
        /// Sells the club with an introductory offer of three months for 0.99 USD each.
        private func sell(_ store: StoreHarness) async throws -> PaymentQueue.Product {
            let document = try SampleCatalog.offering { $1.introductoryOffer = $0 }
            _ = try await store.administrator.importCatalog(document).value
            try await store.waitUntilSellable(SampleCatalog.club)
            SKPaymentQueue.configure(try EndToEnd.PaymentQueues.configuration(of: store))
            return try #require(
                try await PaymentQueue.Product.products(for: [SampleCatalog.club.rawValue]).first
            )
        }

        /// Buys the club.
        ///
        /// - Returns: The ids of the subscription and of the transaction, and the price.
        private func buy(
            _ club: PaymentQueue.Product,
            _ options: Set<PaymentQueue.Product.PurchaseOption> = []
        ) async throws -> (original: UInt64, id: UInt64, price: Decimal?) {
            guard case .success(let bought) = try await club.purchase(options: options) else {
                throw HarnessError("The subscription was not bought.")
            }
            let transaction = bought.unsafePayloadValue
            return (transaction.originalID, transaction.id, transaction.price)
        }

        private func refusal(
            of club: PaymentQueue.Product,
            _ jws: String
        ) async -> SKError.Code? {
            let error = await #expect(throws: SKError.self) {
                try await club.purchase(options: [.introductoryOfferEligibility(compactJWS: jws)])
            }
            return error?.code
        }

        /// Cancels the subscription and lets it end.
        private func leave(_ store: StoreHarness, _ subscription: UInt64) async throws {
            let off = try await store.counterfoil("subscriptions", "cancel", "\(subscription)")
            #expect(off.exit == .code(0), "\(off.output)")
            _ = try await store.advanceClock("70d", from: try await store.readClock().now)
        }

        @Test func theOfferIsWithheldAndLaterGivenOnceMore() async throws {
            try await withStore { store in
                let club = try await sell(store)
                _ = try await store.setClock(Routes.adminClockFreeze)
                let observer = RecordingObserver()
                SKPaymentQueue.default().add(observer)
                func signed(_ isAllowed: Bool) throws -> String {
                    try store.keys.introductoryOfferEligibility(isAllowed, of: SampleCatalog.club)
                }
                let withheld = PaymentQueue.Product.PurchaseOption.introductoryOfferEligibility(
                    compactJWS: try signed(false)
                )
                let first = try await buy(club, [withheld])
                #expect(first.price == club.price)
                #expect(await refusal(of: club, try signed(true)) == .ineligibleForOffer)
                try await leave(store, first.original)

                let own = try await buy(club)
                #expect(own.price == Decimal(string: "0.99"))
                try await leave(store, first.original)

                let jws = try signed(true)
                let again = try await buy(club, [.introductoryOfferEligibility(compactJWS: jws)])
                #expect(again.price == Decimal(string: "0.99"))
                #expect(await refusal(of: club, jws) == .invalidSignature)
                SKPaymentQueue.default().remove(observer)
                let story = try await store.counterfoil("why", "\(again.id)")
                #expect(
                    story.output.contains("introductory offer that the merchant's server gave"),
                    "\(story.output)"
                )
                let audit = try await store.reconcile(within: .seconds(60))
                #expect(audit.differences == [] && audit.subscriptions == 1)
                let proof = try await store.verify()
                #expect(proof.exit == .code(0), "\(proof.output)")
            }
        }
    }
}
