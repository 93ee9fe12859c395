import EventTypes
import Foundation
import PaymentQueue
import StoreAPI
import Synchronization
import TestSupport
import Testing

extension EndToEnd.PaymentQueues {
    /// The pages on which buyers confirm charges, as with 3-D Secure.
    @Suite(.serialized)
    struct BuyerPages {
        @Test(arguments: [SandboxActionRequest.Decision.complete, .refuse])
        func theBanksPageIsOpenedOnceAndDecides(
            decision: SandboxActionRequest.Decision
        ) async throws {
            try await withStore(.waitingForBuyers) { store in
                try await store.importSampleCatalog()
                let pages = Pages(of: try store.client(account: "ada"), decision)
                let observer = try await Self.observe(store, opening: pages)
                try await Self.buy()
                let state: SKPaymentTransactionState = decision == .complete ? .purchased : .failed
                _ = try await observer.first(state)
                #expect(pages.opened.count == 1)
                SKPaymentQueue.default().remove(observer)
            }
        }

        @Test func aProgramThatWasKilledOpensThePageAtItsNextLaunch() async throws {
            try await withStore(.waitingForBuyers) { store in
                try await store.importSampleCatalog()
                let client = try store.client(account: "ada")
                let killed = try await Self.observe(store, opening: nil)
                try await Self.buy()
                try await eventually("the payment to be in the account's queue") {
                    try await client.unfinished().value.transactions.isEmpty ? nil : true
                }
                SKPaymentQueue.default().remove(killed)

                let pages = Pages(of: client, .complete)
                let observer = try await Self.observe(store, opening: pages)
                _ = try await observer.first(.purchased)
                #expect(pages.opened.count == 1)
                SKPaymentQueue.default().remove(observer)
            }
        }

        @Test func aBuyerWhoHasLeftThePageOpensItAgain() async throws {
            try await withStore(.waitingForBuyers) { store in
                try await store.importSampleCatalog()
                // The first page is left without a decision.
                let pages = Pages(of: try store.client(account: "ada"), nil, .complete)
                let observer = try await Self.observe(store, opening: pages)
                try await Self.buy()
                let waiting = try await observer.first(.purchasing)
                try await eventually("the page to be opened") { pages.opened.first }
                try await eventually("the buyer to be awaited") {
                    waiting.awaitsBuyer ? true : nil
                }
                // Nothing happens as long as the page is open.
                try await eventually("the page to be opened again") {
                    waiting.openBuyerActionPage()
                    return pages.opened.count == 2 ? true : nil
                }
                #expect(try await observer.first(.purchased) === waiting)
                #expect(!waiting.awaitsBuyer)
                #expect(pages.opened.count == 2 && Set(pages.opened).count == 1)
                SKPaymentQueue.default().remove(observer)
            }
        }

        /// It never asks for the page, and is told by its queue alone.
        @Test func aProgramWithoutPagesSeesThatItsBuyerIsAwaited() async throws {
            try await withStore(.waitingForBuyers) { store in
                try await store.importSampleCatalog()
                let observer = try await Self.observe(store, opening: nil)
                try await Self.buy()
                let waiting = try await observer.first(.purchasing)
                try await eventually("the buyer to be awaited") {
                    waiting.awaitsBuyer ? true : nil
                }
                // Another device of the account sees it too, and its buyer confirms there.
                let client = try store.client(account: "ada")
                let queue = try await client.unfinished().value.transactions
                let seen = try #require(queue.first { $0.transaction.awaitsBuyer == true })
                let id = seen.transaction.id
                let page = try await client.action(of: id).value
                try await client.decide(.complete, on: page)
                // Whoever asks again has the store look at once.
                _ = try await client.action(of: id)
                #expect(try await observer.first(.purchased) === waiting)
                #expect(!waiting.awaitsBuyer)
                SKPaymentQueue.default().remove(observer)
            }
        }

        @Test func aPageThatNobodyConfirmsIsAwaitedNoLonger() async throws {
            let settings = [StoreService.payments: ["ACTION_EXPIRY_MS": "15000"]]
            try await withStore(.with(settings: settings)) { store in
                try await store.importSampleCatalog()
                let observer = try await Self.observe(store, opening: nil)
                try await Self.buy()
                let waiting = try await observer.first(.purchasing)
                try await eventually("the buyer to be awaited") {
                    waiting.awaitsBuyer ? true : nil
                }
                #expect(try await observer.first(.failed) === waiting)
                #expect(!waiting.awaitsBuyer)
                SKPaymentQueue.default().remove(observer)
            }
        }

        @Test func aPaymentThatIsChargedAtOnceOpensNothing() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let pages = Pages(of: try store.client(account: "ada"), .complete)
                let observer = try await Self.observe(store, paying: .success, opening: pages)
                try await Self.buy()
                let purchased = try await observer.first(.purchased)
                #expect(pages.opened.isEmpty && !purchased.awaitsBuyer)
                SKPaymentQueue.default().remove(observer)
            }
        }

        /// Configures the queue of a program that opens pages, and observes it.
        private static func observe(
            _ store: StoreHarness,
            paying method: SandboxPaymentMethod = .needsAction,
            opening pages: Pages?
        ) async throws -> RecordingObserver {
            var configuration = try EndToEnd.PaymentQueues.configuration(of: store, paying: method)
            if let pages {
                configuration.buyerActionPage = { url in await pages.open(url) }
            }
            SKPaymentQueue.configure(configuration)
            let observer = RecordingObserver()
            SKPaymentQueue.default().add(observer)
            return observer
        }

        /// Buys coins.
        private static func buy() async throws {
            let queue = SKPaymentQueue.default()
            let response = try await queue.products(for: [SampleCatalog.coins.rawValue])
            queue.add(SKPayment(product: try #require(response.products.first)))
        }
    }
}

/// A buyer who decides on each page that is opened, or leaves it.
private final class Pages: Sendable {
    private let client: StoreClient
    /// The decisions on the pages, of which the last one is made on all further pages; `nil` leaves a page.
    private let decisions: [SandboxActionRequest.Decision?]
    private let urls = Mutex<[URL]>([])

    init(of client: StoreClient, _ decisions: SandboxActionRequest.Decision?...) {
        self.client = client
        self.decisions = decisions
    }

    var opened: [URL] { urls.withLock { $0 } }

    func open(_ url: URL) async {
        let count = urls.withLock { urls in
            urls.append(url)
            return urls.count
        }
        guard let decision = decisions[min(count, decisions.count) - 1] else { return }
        // An answer that is lost leaves the payment waiting, and the test says so.
        _ = try? await client.decide(decision, onPageAt: url)
    }
}

extension StoreClient {
    /// Decides on the page that an app has opened.
    func decide(_ decision: SandboxActionRequest.Decision, onPageAt url: URL) async throws {
        // The sandbox's pages are known by their paths, and Stripe's by their addresses.
        let address = stripe == nil ? url.path : url.absoluteString
        try await decide(decision, on: BuyerActionResponse(url: address, endsIn: 0))
    }
}

extension StoreOptions {
    /// A store that waits two minutes for its buyers: long enough for a restart on a busy machine.
    fileprivate static var waitingForBuyers: StoreOptions {
        .with(settings: [.payments: ["ACTION_EXPIRY_MS": "120000"]])
    }
}
