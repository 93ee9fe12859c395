import EventTypes
import Foundation
import NIOHTTP1
import PaymentQueue
import StoreAPI
import Synchronization
import Testing
import TestSupport

extension EndToEnd.PaymentQueues {
    /// Offer codes: an administrator makes them, the app opens the page, and a person types them there.
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct OfferCodes {
        private static let offer = OfferID(unchecked: "spring")

        /// Sells the club with an offer of three months for 0.99 USD each.
        private func sell(_ store: StoreHarness) async throws {
            var document = try SampleCatalog.document()
            let club = try #require(document.products[SampleCatalog.club])
            let terms = OfferTerms(
                mode: .payAsYouGo,
                period: SubscriptionPeriod(1, .month),
                numberOfPeriods: 3,
                prices: club.prices.mapValues { Money(minorUnits: 99, currency: $0.currency) }
            )
            document.products[SampleCatalog.club]?.codeOffers = [
                CodeOffer(id: Self.offer, terms: terms)
            ]
            _ = try await store.administrator.importCatalog(document).value
            try await store.waitUntilSellable(SampleCatalog.club)
        }

        /// Makes codes.
        private func codes(_ store: StoreHarness, _ count: Int) async throws -> [String] {
            let request = CodeCampaignRequest(
                bundleID: StoreKeys.bundleID,
                productID: SampleCatalog.club,
                offerID: Self.offer,
                count: count,
                reason: ActReason(rawValue: "Leaflets")
            )
            let made = try await store.administrator.raw(
                .POST,
                store.urls.payments + Routes.adminCodeCampaigns,
                body: Array(try JSONEncoder().encode(request))
            ).decode(CodeCampaignResponse.self)
            #expect(made.campaign.created.reason?.rawValue == "Leaflets")
            return try #require(made.codes)
        }

        /// Sends the form of a page.
        private func submit(_ page: URL, _ fields: [String: String]) async throws -> StoreResponse {
            let form = fields.map { name, value in
                let text = value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                return "\(name)=\(text)"
            }.joined(separator: "&")
            let address = page.absoluteString.prefix { $0 != "?" }
            return try await StoreHTTP.send(
                .POST,
                String(address),
                headers: [("Content-Type", "application/x-www-form-urlencoded")],
                body: Array(form.utf8)
            )
        }

        /// The value of a hidden field of a page.
        private func value(of name: String, in page: StoreResponse) throws -> String {
            let parts = page.text.components(separatedBy: "name=\"\(name)\" value=\"")
            let escaped = try #require(parts.last?.components(separatedBy: "\"").first)
            return escaped.replacing("&quot;", with: "\"").replacing("&amp;", with: "&")
        }

        @Test func aCodeIsTypedOnThePageAndArrivesInTheQueue() async throws {
            try await withStore { store in
                try await sell(store)
                let code = try #require(try await codes(store, 1).first)
                let opened = Mutex<[URL]>([])
                var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
                configuration.codeRedemptionSheet = CodeRedemptionSheet(
                    paymentMethod: { SandboxPaymentMethod.success.rawValue },
                    open: { url in opened.withLock { $0.append(url) } }
                )
                SKPaymentQueue.configure(configuration)
                let observer = RecordingObserver()
                let queue = SKPaymentQueue.default()
                queue.add(observer)
                queue.presentCodeRedemptionSheet()
                try await eventually("the page to be opened") {
                    opened.withLock { !$0.isEmpty }
                }
                let page = try #require(opened.withLock { $0.first })

                let form = try await StoreHTTP.send(.GET, page.absoluteString)
                #expect(form.status == 200 && !form.text.contains("<script"))
                let policy = form.headers.first(name: "Content-Security-Policy")
                #expect(policy?.contains("frame-ancestors 'none'") == true)
                let ticket = try value(of: "ticket", in: form)
                let wrong = try await submit(page, ["ticket": ticket, "code": "<b>WRONG"])
                #expect(wrong.status == 422 && wrong.text.contains("There is no such code."))
                #expect(!wrong.text.contains("<b>"))
                let asked = try await submit(page, ["ticket": ticket, "code": code])
                #expect(asked.text.contains("3 times 1 month for 0.99 USD each"))
                let confirmed = try value(of: "confirmed", in: asked)
                let fields = ["ticket": ticket, "code": code, "confirmed": confirmed]
                for _ in 1...2 {
                    let done = try await submit(page, fields)
                    #expect(done.status == 200 && done.text.contains("Your code was redeemed"))
                }
                let bought = try await observer.first(.purchased)
                #expect(bought.payment.productIdentifier == SampleCatalog.club.rawValue)
                let again = try await submit(page, ["ticket": ticket, "code": code])
                #expect(again.status == 422 && again.text.contains("redeemed already"))
                let stranger = try await submit(page, ["ticket": "0", "code": code])
                #expect(stranger.status == 410)
                queue.remove(observer)
                let audit = try await store.reconcile(within: .seconds(30))
                #expect(audit.differences == [] && audit.subscriptions == 1)
                let proof = try await store.verify()
                #expect(proof.exit == .code(0), "\(proof.output)")
            }
        }
    }
}
