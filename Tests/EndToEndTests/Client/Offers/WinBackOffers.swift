import EventTypes
import Foundation
import PaymentQueue
import StoreAPI
import Testing
import TestSupport

extension EndToEnd.PaymentQueues {
    /// The client library of an account that comes back with a win-back offer.
    @Suite(.serialized)
    struct WinBackOffers {
        private static let offer = OfferID(unchecked: "we_miss_you")

        /// Sells the club with an offer of three months for 0.99 USD each.
        private func sell(_ store: StoreHarness) async throws {
            let document = try SampleCatalog.offering { terms, club in
                club.winBackOffers = [
                    WinBackOffer(id: Self.offer, monthsSinceEnd: 1, terms: terms)
                ]
            }
            _ = try await store.administrator.importCatalog(document).value
            try await store.waitUntilSellable(SampleCatalog.club)
        }

        private func info() async throws -> RenewalInfo {
            try #require(try await SubscriptionInfo.status(for: "club").first)
                .renewalInfo.unsafePayloadValue
        }

        @Test func aFormerSubscriberComesBackAtTheOffersPrice() async throws {
            try await withStore { store in
                try await sell(store)
                _ = try await store.setClock(Routes.adminClockFreeze)
                SKPaymentQueue.configure(try EndToEnd.PaymentQueues.configuration(of: store))
                let observer = RecordingObserver()
                SKPaymentQueue.default().add(observer)
                let club = try #require(
                    try await PaymentQueue.Product.products(for: [SampleCatalog.club.rawValue])
                        .first
                )
                let offer = try #require(club.subscription?.winBackOffers.first)
                #expect(offer.id == Self.offer.rawValue && offer.type == .winBack)
                // An account that never had a subscription gets none, and is not charged the
                // ordinary price.
                let refusal = await #expect(throws: SKError.self) {
                    try await club.purchase(options: [.winBackOffer(offer)])
                }
                #expect(refusal?.code == .ineligibleForOffer)
                guard case .success(let first) = try await club.purchase() else {
                    throw HarnessError("The subscription was not bought.")
                }
                #expect(try await info().eligibleWinBackOfferIDs.isEmpty)

                let id = "\(first.unsafePayloadValue.originalID)"
                let off = try await store.counterfoil("subscriptions", "cancel", id)
                #expect(off.exit == .code(0), "\(off.output)")
                let start = try await store.readClock().now
                _ = try await store.advanceClock("70d", from: start)
                let ended = try await eventually("the offer to be in the renewal info") {
                    let info = try await info()
                    return info.eligibleWinBackOfferIDs.isEmpty ? nil : info
                }
                #expect(ended.eligibleWinBackOfferIDs == [Self.offer.rawValue])
                #expect(!ended.willAutoRenew && ended.expirationReason == .autoRenewDisabled)

                guard
                    case .success(let back) = try await club.purchase(options: [
                        .winBackOffer(offer)
                    ])
                else { throw HarnessError("The offer was not redeemed.") }
                #expect(back.unsafePayloadValue.price == Decimal(string: "0.99"))
                let running = try await eventually("the subscription to run again") {
                    let info = try await info()
                    return info.willAutoRenew ? info : nil
                }
                #expect(running.eligibleWinBackOfferIDs.isEmpty)
                #expect(running.renewalPrice == Decimal(string: "0.99"))
                SKPaymentQueue.default().remove(observer)
                let story = try await store.counterfoil("why", "\(back.unsafePayloadValue.id)")
                #expect(
                    story.output.contains("win-back offer \(Self.offer), period 1 of 3"),
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
