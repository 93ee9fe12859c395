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
    @Suite(.serialized)
    struct OfferCodes {
        @Test func aCodeIsTypedOnThePageAndArrivesInTheQueue() async throws {
            try await withStore { store in
                try await store.sellOfferOfCodes()
                let made = try await store.makeCodes(1)
                #expect(made.campaign.created.reason?.rawValue == "Leaflets")
                let code = try #require(made.codes?.first)
                let opened = Mutex<[URL]>([])
                let client = try store.client(account: "ada")
                var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
                configuration.codeRedemptionSheet = CodeRedemptionSheet(
                    paymentMethod: { try await client.payingMethod().rawValue },
                    open: { url in opened.withLock { $0.append(url) } }
                )
                SKPaymentQueue.configure(configuration)
                let observer = RecordingObserver()
                let queue = SKPaymentQueue.default()
                queue.add(observer)
                queue.presentCodeRedemptionSheet()
                try await eventually("the page to be opened") {
                    opened.withLock { $0.isEmpty ? nil : true }
                }
                let page = CodePage(url: try #require(opened.withLock { $0.first }))

                let form = try await page.load()
                #expect(form.status == 200 && !form.text.contains("<script"))
                let policy = form.headers.first(name: "Content-Security-Policy")
                #expect(policy?.contains("frame-ancestors 'none'") == true)
                #expect(form.text.contains("<strong>ada</strong>"))
                let ticket = try CodePage.value(of: "ticket", in: form)
                let wrong = try await page.submit(["ticket": ticket, "code": "<b>WRONG"])
                #expect(wrong.status == 422 && wrong.text.contains("There is no such code."))
                #expect(!wrong.text.contains("<b>"))
                let asked = try await page.submit(["ticket": ticket, "code": code])
                #expect(asked.text.contains("3 times 1 month for 0.99 USD each"))
                let confirmed = try CodePage.value(of: "confirmed", in: asked)
                let fields = ["ticket": ticket, "code": code, "confirmed": confirmed]
                for _ in 1...2 {
                    let done = try await page.submit(fields)
                    #expect(done.status == 200 && done.text.contains("Your code was redeemed"))
                }
                let bought = try await observer.first(.purchased)
                #expect(bought.payment.productIdentifier == SampleCatalog.club.rawValue)
                let again = try await page.submit(["ticket": ticket, "code": code])
                #expect(again.status == 422 && again.text.contains("redeemed already"))
                let stranger = try await page.submit(["ticket": "0", "code": code])
                #expect(stranger.status == 410)
                let incomplete = try await page.submit(["ticket": ticket])
                #expect(incomplete.status == 400)
                queue.remove(observer)
                let id = try #require(bought.transactionIdentifier)
                let why = try await store.counterfoil("why", id)
                let offered = "period 1 of 3, by a code of campaign \(made.campaign.id)"
                #expect(why.output.contains(offered), "\(why.output)")
                let audit = try await store.reconcile(within: .seconds(60))
                #expect(audit.differences == [] && audit.subscriptions == 1)
                let proof = try await store.verify()
                #expect(proof.exit == .code(0), "\(proof.output)")
            }
        }

        /// The codes are lines under a heading, and the rest of what the command says is not among them.
        @Test func anOperatorPrintsCodesAsCSVAndEndsThem() async throws {
            try await withStore { store in
                try await store.sellOfferOfCodes()
                let made = try await store.counterfoil([
                    "codes", "create", "--app", StoreKeys.bundleID.rawValue,
                    "--product", SampleCatalog.club.rawValue, "--offer", "spring",
                    "--count", "3", "--reason", "Leaflets",
                ])
                #expect(made.exit == .code(0), "\(made.output)")
                let lines = made.output.split(separator: "\n").map { String($0) }
                let heading = try #require(lines.firstIndex(of: "code"), "\(made.output)")
                let codes = Array(lines[(heading + 1)...].prefix(3))
                #expect(Set(codes).count == 3 && codes.allSatisfy { $0.utf8.count == 18 })
                let listed = try await store.counterfoil("codes", "list")
                #expect(listed.output.contains("0 of 3 redeemed"), "\(listed.output)")
                let campaign = String(listed.output.prefix { $0 != ":" })
                let page = try await store.openCodePage()
                let form = try await page.confirmation(of: codes[0])
                #expect(try await page.submit(form).status == 200)

                let ended = try await store.counterfoil(
                    "codes",
                    "deactivate",
                    campaign,
                    "--reason",
                    "Lost"
                )
                #expect(ended.exit == .code(0), "\(ended.output)")
                let shown = try await store.counterfoil("codes", "show", campaign)
                for words in ["1 of 3 redeemed", "deactivated", "Leaflets", "Lost"] {
                    #expect(shown.output.contains(words), "\(shown.output)")
                }
                let late = try await store.openCodePage(of: "bob")
                let fields = ["ticket": try await late.ticket(), "code": codes[1]]
                let refused = try await late.submit(fields)
                #expect(refused.status == 422 && refused.text.contains("no longer valid"))
            }
        }

        /// Fifty accounts use up the tries of their address, and nobody at another one is kept out.
        @Test func anAddressIsBoundedWhateverAccountsAreUsed() async throws {
            let settings = [StoreService.payments: ["CLIENT_ADDRESS_HEADER": "X-Forwarded-For"]]
            try await withStore(.with(settings: settings)) { store in
                try await store.sellOfferOfCodes()
                let code = try #require(try await store.makeCodes(1).codes?.first)
                let near = "192.0.2.1"
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<50 {
                        group.addTask {
                            let page = try await store.openCodePage(of: "guesser-\(number)")
                            let ticket = try await page.ticket()
                            for guess in 0..<20 {
                                let fields = ["ticket": ticket, "code": "GUESS\(guess)"]
                                let answer = try await page.submit(fields, from: near)
                                #expect(answer.status == 422, "\(answer.text)")
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                let page = try await store.openCodePage()
                let fields = ["ticket": try await page.ticket(), "code": code]
                let refused = try await page.submit(fields, from: "203.0.113.9, \(near)")
                #expect(refused.status == 429 && refused.text.contains("from your network"))
                for address in ["192.0.2.2", nil] {
                    let asked = try await page.submit(fields, from: address)
                    #expect(asked.status == 200, "\(asked.text)")
                }
            }
        }
    }
}
