import EventTypes
import Foundation
import PaymentQueue
import StoreAPI
import Testing
import TestSupport

extension EndToEnd.PaymentQueues {
    /// The client library with offers that the merchant's server has signed.
    @Suite(.serialized)
    struct PromotionalOffers {
        private static let offer = "come_back"

        /// Signs an offer as a merchant's server does.
        private func discount(
            _ store: StoreHarness,
            _ offer: String = offer,
            by keyID: String? = nil,
            at date: Date = Date()
        ) throws -> SKPaymentDiscount {
            let keyID = keyID ?? store.keys.serverKeyID
            let (nonce, timestamp) = (UUID(), Int64(date.timeIntervalSince1970 * 1000))
            let fields = [
                StoreKeys.bundleID.rawValue, keyID, SampleCatalog.club.rawValue, offer, "",
                nonce.uuidString.lowercased(), "\(timestamp)",
            ]
            let text = fields.joined(separator: "\u{2063}")
            return SKPaymentDiscount(
                identifier: offer,
                keyIdentifier: keyID,
                nonce: nonce,
                signature: try store.keys.serverSignature(of: text),
                timestamp: timestamp
            )
        }

        /// The sample catalog, in which the club has an offer of three months.
        private func catalog(offeredFor cents: Int64) throws -> CatalogDocument {
            try SampleCatalog.offering(for: cents) { terms, club in
                club.promotionalOffers = [
                    PromotionalOffer(id: OfferID(unchecked: Self.offer), terms: terms)
                ]
            }
        }

        /// Sells the club with an offer of three months for 0.99 USD each.
        private func sell(_ store: StoreHarness) async throws {
            _ = try await store.administrator.importCatalog(catalog(offeredFor: 99)).value
            try await store.waitUntilSellable(SampleCatalog.club)
        }

        /// Sells the offer for 1.99 USD, and waits until `payments` knows it.
        private func raiseTheOffer(_ store: StoreHarness) async throws {
            let france = EventTypes.Storefront(unchecked: "FRA")
            var document = try catalog(offeredFor: 199)
            let old = try #require(document.products[SampleCatalog.club]?.prices[france])
            // Another price in France shows when this version of the product has arrived.
            document.products[SampleCatalog.club]?.prices[france] = Money(
                minorUnits: old.minorUnits + 1,
                currency: old.currency
            )
            _ = try await store.administrator.importCatalog(document).value
            let probe = try store.client(account: "catalog-probe")
            var request = PaymentRequest.sample(SampleCatalog.club)
            request.storefront = france
            request.price = old
            request.paymentMethod = "no_such_method"
            try await eventually("payments to know the new price") { () -> Bool? in
                let answer = try await probe.add(request)
                guard try !answer.asksToTryAgain, let problem = answer.problem else { return nil }
                return problem.code == "stale_price" ? true : nil
            }
        }

        private func shownClub() async throws -> SKProduct {
            let response = try await SKPaymentQueue.default().products(
                for: [SampleCatalog.club.rawValue]
            )
            return try #require(response.products.first)
        }

        /// The buyer is never charged more than the offer that was shown.
        @Test func anOfferWithAnotherPriceThanTheShownOneIsRefused() async throws {
            try await withStore { store in
                try await sell(store)
                SKPaymentQueue.configure(try EndToEnd.PaymentQueues.configuration(of: store))
                let observer = RecordingObserver()
                SKPaymentQueue.default().add(observer)
                let club = try await shownClub()
                #expect(club.discounts.first?.price == Decimal(string: "0.99"))
                let listed = try await store.counterfoil("offers", "list", "--json")
                #expect(listed.output.contains(#""id" : "come_back""#), "\(listed.output)")
                _ = try await club.purchase()
                try await raiseTheOffer(store)
                let signed = try discount(store)
                let refusal = await #expect(throws: SKError.self) {
                    try await club.purchase(options: [.paymentDiscount(signed)])
                }
                #expect(refusal?.code == .invalidOfferPrice)
                #expect(refusal?.storeCode == "stale_offer")
                // The refused payment has not used up the signature.
                let shownAgain = try await shownClub()
                guard
                    case .success = try await shownAgain.purchase(options: [
                        .paymentDiscount(signed)
                    ])
                else { throw HarnessError("The offer was not redeemed.") }
                try await eventually("the next period to cost what was shown") { () -> Bool? in
                    let status = try await SubscriptionInfo.status(for: "club").first
                    let price = status?.renewalInfo.unsafePayloadValue.renewalPrice
                    return price == Decimal(string: "1.99") ? true : nil
                }
                SKPaymentQueue.default().remove(observer)
            }
        }

        /// Every reason to refuse an offer is an error of StoreKit's, and nothing is given away.
        @Test func anOfferIsRefusedForAReasonThatTheAppCanTell() async throws {
            try await withStore { store in
                try await sell(store)
                SKPaymentQueue.configure(try EndToEnd.PaymentQueues.configuration(of: store))
                let observer = RecordingObserver()
                SKPaymentQueue.default().add(observer)
                let club = try await shownClub()
                #expect(club.discounts.map(\.identifier) == [Self.offer])
                func refusal(_ discount: SKPaymentDiscount) async -> SKError.Code? {
                    let payment = SKMutablePayment(product: club)
                    payment.paymentDiscount = discount
                    let error = await #expect(throws: SKError.self) {
                        try await SKPaymentQueue.default().purchase(payment)
                    }
                    return error?.code
                }
                // Who never had a subscription gets none.
                #expect(await refusal(try discount(store)) == .ineligibleForOffer)
                _ = try await club.purchase()
                #expect(await refusal(try discount(store, "other")) == .invalidOfferIdentifier)
                #expect(await refusal(try discount(store, by: "other")) == .invalidSignature)
                let old = Date().addingTimeInterval(-90_000)
                #expect(await refusal(try discount(store, at: old)) == .invalidSignature)
                let good = try discount(store)
                let unsigned = SKPaymentDiscount(
                    identifier: good.identifier,
                    keyIdentifier: good.keyIdentifier,
                    nonce: good.nonce,
                    signature: "",
                    timestamp: good.timestamp
                )
                #expect(await refusal(unsigned) == .missingOfferParams)

                // The offer is for the product that runs, so it begins with the next renewal.
                guard
                    case .success(let copy) = try await club.purchase(options: [
                        .paymentDiscount(good)
                    ])
                else { throw HarnessError("The offer was not redeemed.") }
                #expect(copy.price == 0 && copy.original != nil)
                #expect(await refusal(good) == .invalidSignature)
                let status = try #require(try await SubscriptionInfo.status(for: "club").first)
                #expect(
                    status.renewalInfo.unsafePayloadValue.renewalPrice == Decimal(string: "0.99")
                )
                SKPaymentQueue.default().remove(observer)
                let audit = try await store.reconcile(within: .seconds(60))
                #expect(audit.differences == [] && audit.subscriptions == 1)
                let proof = try await store.verify()
                #expect(proof.exit == .code(0), "\(proof.output)")
            }
        }
    }
}
