import Dispatch
import EventTypes
import Foundation
import Logging
import StoreAPI
import Synchronization
import TestSupport
import Testing

@testable import PaymentQueue

/// The queue between the store and the app's observers; nothing here needs a store.
@Suite(.timeLimit(.minutes(10))) struct QueueTests {
    private let callbacks = DispatchQueue(label: "test")

    private func queue(
        _ configuration: StoreConfiguration? = nil
    ) -> SKPaymentQueue {
        SKPaymentQueue(configuration: configuration, callbacks: callbacks)
    }

    /// Waits until every call that was due has been made.
    private func reported(_ observer: Observer) async -> [Observer.Call] {
        await settled(callbacks)
        return observer.calls.withLock { calls in
            defer { calls = [] }
            return calls
        }
    }

    // MARK: - Observers

    @Test(arguments: RandomSeed.ofThisRun)
    func everyObserverHearsEverythingWhateverTheOrderTheyWereAddedIn(seed: RandomSeed) async {
        var random = seed.generator()
        for _ in 0..<20 {
            let queue = queue()
            let observers = (0..<5).map { _ in Observer() }
            for observer in observers.shuffled(using: &random) { queue.add(observer) }
            #expect(queue.transactionObservers.count == 5)
            queue.change {
                $0.receive([.of(1, "coins", .purchasing), .of(1, "coins", .purchased)])
            }
            let gone = observers.shuffled(using: &random)[0]
            let before = await reported(gone)
            queue.remove(gone)
            queue.change { $0.receive([.of(1, "coins", .purchased, finishedAt: 9)]) }
            #expect(await reported(gone).isEmpty)
            for observer in observers where observer !== gone {
                #expect(
                    await reported(observer) == [
                        .updated("coins", .purchasing), .updated("coins", .purchased),
                        .removed("coins"),
                    ]
                )
            }
            #expect(before == [.updated("coins", .purchasing), .updated("coins", .purchased)])
        }
    }

    @Test func anObserverThatRemovesAllInItsCallIsTheLastThatIsCalled() async {
        let queue = queue()
        let observers = (0..<3).map { _ in
            Observer { queue in
                for observer in queue.transactionObservers { queue.remove(observer) }
            }
        }
        for observer in observers { queue.add(observer) }
        queue.change { $0.receive([.of(1, "coins", .purchased)]) }
        var calls: [Observer.Call] = []
        for observer in observers { calls += await reported(observer) }
        #expect(calls == [.updated("coins", .purchased)])
    }

    @Test func comingBackFromTheBackgroundTellsOfWhatIsUnfinishedAgain() async throws {
        let queue = queue()
        let observer = Observer()
        queue.add(observer)
        queue.applicationDidBecomeActive()
        #expect(await reported(observer).isEmpty)
        queue.change { $0.receive([.of(1, "coins", .purchased), .of(2, "hint", .purchased)]) }
        let first: [Observer.Call] = [.updated("coins", .purchased), .updated("hint", .purchased)]
        #expect(await reported(observer) == first)
        for _ in 0..<5 {
            queue.applicationDidBecomeActive()
            #expect(await reported(observer) == first)
        }
        let finished = try #require(queue.transactions.first)
        queue.change { $0.finish(finished) }
        queue.applicationDidBecomeActive()
        #expect(await reported(observer) == [.removed("coins"), .updated("hint", .purchased)])
    }

    @Test func aPaymentAddedBeforeAnyObserverIsReportedToTheFirst() async {
        var configuration = StoreConfiguration.unreachable
        configuration.paymentMethod = { _ in
            // The buyer takes long to choose.
            try await Task.sleep(for: .seconds(3600))
            return "method"
        }
        let queue = queue(configuration)
        let transaction = queue.begin(SKPayment(product: .sample("coins")))
        let observer = Observer()
        queue.add(observer)
        #expect(await reported(observer).first == .updated("coins", .purchasing))
        #expect(queue.transactions.contains { $0 === transaction })
        queue.remove(observer)
    }

    // MARK: - Downloads

    private func purchased(_ queue: SKPaymentQueue) async throws -> SKDownload {
        let content = HostedContent(
            contentIdentifier: ProductID(unchecked: "pro"),
            version: ContentVersion(unchecked: "1.0"),
            length: 1000,
            sha256: ContentDigest(unchecked: String(repeating: "0", count: 64))
        )
        queue.change { $0.receive([.of(1, "pro", .purchased, contents: [content])]) }
        await settled(callbacks)
        return try #require(queue.transactions.first?.downloads.first)
    }

    @Test func anObserverOfDownloadsSeesEachReportedState() async throws {
        var configuration = StoreConfiguration.unreachable
        configuration.downloadDirectory = FileManager.default.temporaryDirectory
            .appendingPathComponent("counterfoil-\(UUID().uuidString)")
        let queue = queue(configuration)
        let observer = Observer()
        queue.add(observer)
        let download = try await purchased(queue)
        _ = await reported(observer)
        callbacks.suspend()
        download.start()
        download.pause()
        download.resume()
        download.cancel()
        #expect(download.state == .waiting, "It shows what observers were running.")
        callbacks.resume()
        // A run that has begun may say how far it is.
        let calls = await reported(observer)
        var changes: [Observer.Call] = []
        for call in calls where call != changes.last { changes.append(call) }
        #expect(
            changes == [
                .download(.active), .download(.paused), .download(.active), .download(.cancelled),
            ]
        )
        #expect(download.state == .cancelled)
        queue.remove(observer)
    }

    // MARK: - Which queue

    @Test func aTransactionAndItsDownloadsBelongToTheQueueThatSentThem() async throws {
        let queue = queue()
        let download = try await purchased(queue)
        let transaction = try #require(queue.transactions.first)
        #expect(transaction.queue === queue && download.queue === queue)
        #expect(queue.begin(SKPayment(product: .sample("coins"))).queue === queue)
        let observer = Observer()
        queue.add(observer)
        _ = await reported(observer)
        // The queue has no store, so it refuses; the default queue would not know the transaction.
        download.start()
        // It may hear of the payment above in between.
        #expect(await reported(observer).contains(.download(.failed)))
        #expect(download.error as? SKError == .notConfigured)
        try await transaction.finish()
        #expect(await reported(observer).contains(.removed("pro")))
    }

    // MARK: - Payments

    /// Spec rule 25: it fails at once and is not sent; the method is not asked for either.
    @Test(arguments: [0, -1, Int.min])
    func aPaymentForNoneFailsBeforeAnythingIsAskedOrSent(quantity: Int) async throws {
        let wasAsked = Mutex(false)
        var configuration = StoreConfiguration.unreachable
        configuration.paymentMethod = { _ in
            wasAsked.withLock { $0 = true }
            return "method"
        }
        let queue = queue(configuration)
        let payment = SKMutablePayment(product: .sample("coins"))
        payment.quantity = quantity
        let transaction = queue.begin(payment)
        try await eventually("the payment to fail") {
            transaction.transactionState == .failed ? true : nil
        }
        #expect((transaction.error as? SKError)?.code == .paymentInvalid)
        #expect(!wasAsked.withLock { $0 })
        try await transaction.finish()
        #expect(queue.transactions.isEmpty)
    }

    /// StoreKit, too, rejects a payment with the reserved property.
    @Test func aPaymentWithReservedDataFailsBeforeItIsSent() async throws {
        let queue = queue(StoreConfiguration.unreachable)
        let payment = SKMutablePayment(product: .sample("coins"))
        payment.requestData = []
        let transaction = queue.begin(payment)
        try await eventually("the payment to fail") {
            transaction.transactionState == .failed ? true : nil
        }
        #expect((transaction.error as? SKError)?.code == .unauthorizedRequestData)
    }

    // MARK: - What is known without asking

    /// Spec rules 1, 5 and 6: at launch nothing waits, and nothing is asked.
    @Test func whatTheAppReadsAtLaunchNeedsNoAnswer() {
        var configuration = StoreConfiguration.unreachable
        let wasAsked = Mutex(false)
        configuration.accountToken = { _ in
            wasAsked.withLock { $0 = true }
            return "token"
        }
        let queue = queue(configuration)
        #expect(queue.storefront?.countryCode == "USA")
        #expect(queue.storefront?.identifier == "143441")
        #expect(queue.transactions.isEmpty)
        #expect(!wasAsked.withLock { $0 })
    }

    // MARK: - Offer codes

    @Test func withoutACodePageTheLogSaysThatThereIsNone() {
        let log = RecordedLog()
        var configuration = StoreConfiguration.unreachable
        configuration.logger = log.logger
        queue(configuration).presentCodeRedemptionSheet()
        let said = log.messages(at: .warning)
        #expect(said.count == 1 && said.first?.contains("codeRedemptionSheet") == true)
    }

    // MARK: - Requests

    private final class Delegate: SKProductsRequestDelegate, Sendable {
        let ends = Mutex<[SKError?]>([])

        func productsRequest(_ request: SKProductsRequest, didReceive: SKProductsResponse) {}
        func requestDidFinish(_ request: SKRequest) { ends.withLock { $0.append(nil) } }
        func request(_ request: SKRequest, didFailWithError error: any Error) {
            ends.withLock { $0.append(SKError(error)) }
        }
    }

    /// Spec rule 89.
    ///
    /// There is no store, so a request that is not called off fails.
    @Test func aRequestThatIsCalledOffTellsNobodyAndAnotherItsEndOnce() async throws {
        let delegate = Delegate()
        let cancelled = SKProductsRequest(productIdentifiers: ["coins"])
        cancelled.delegate = delegate
        // The callbacks run on this queue, and wait.
        let callbacks = SKPaymentQueue.default().callbacks
        callbacks.suspend()
        cancelled.start()
        let running = SKProductsRequest(productIdentifiers: ["coins"])
        running.delegate = delegate
        running.start()
        running.start()
        cancelled.cancel()
        callbacks.resume()
        try await eventually("the other to end") {
            delegate.ends.withLock { $0.isEmpty } ? nil : true
        }
        cancelled.start()
        await settled(callbacks)
        #expect(delegate.ends.withLock { $0 } == [.notConfigured])
    }

    // MARK: - A program that gives no token

    @Test func aTokenThatNeverComesHoldsNoRequestBeyondItsTime() async throws {
        var configuration = StoreConfiguration.unreachable
        configuration.requestTimeout = .milliseconds(50)
        configuration.paymentPatience = .milliseconds(10)
        configuration.accountToken = { _ in
            // Returns only when it is cancelled.
            try await Task.sleep(for: .seconds(3600))
            return "token"
        }
        let queue = queue(configuration)
        let expected = SKError.Code.cloudServiceNetworkConnectionFailed
        let error = await #expect(throws: SKError.self) { try await queue.products(for: ["coins"]) }
        #expect(error?.code == expected)
        #expect(error?.detail.contains("gave no account token") == true)
        let transaction = queue.begin(SKPayment(product: .sample("coins")))
        try await eventually("the payment to fail: nothing was sent") {
            transaction.transactionState == .failed ? true : nil
        }
        #expect((transaction.error as? SKError)?.code == expected)
    }

    @Test func whatIsAddedToAReplacedQueueIsNotSentAndNobodyWaitsForIt() async throws {
        await #expect(processExitsWith: .success) {
            SKPaymentQueue.configure(.unreachable)
            let old = SKPaymentQueue.default()
            SKPaymentQueue.configure(.unreachable)
            do {
                _ = try await old.purchase(SKPayment(product: .sample("coins")))
            } catch is CancellationError {
                exit(old.transactions.isEmpty ? 0 : 1)
            }
        }
    }
}
