import Dispatch
import EventTypes
import Foundation
import Logging
import PaymentQueue
import StoreAPI
import Synchronization

/// A device of a scenario: an app with a payment queue, and what it has seen since its start.
final class PlayedDevice: SKPaymentTransactionObserver, Sendable {
    /// A transaction and the states in which the device has seen it.
    struct Sighting: Sendable {
        let transaction: SKPaymentTransaction
        /// The states in order; one that is reported again counts once.
        var states: [String]
    }

    private struct Memory: ~Copyable {
        var queue: SKPaymentQueue?
        var sightings: [Sighting] = []
        var restores = 0
        var failedRestore: String?
        /// The payment method of the next payment.
        var method = SandboxPaymentMethod.success
        /// The address of the page for codes that the app was given last.
        var codePage: String?
        /// The products as the app shows them.
        var shown: [ProductID: SKProduct] = [:]
        var wasStarted = false
    }

    let name: String
    let account: AccountID
    private let store: ScenarioStore
    private let storefront: EventTypes.Storefront
    private let wait: ScenarioWait
    private let memory = Mutex(Memory())

    init(
        _ device: ScenarioDevice,
        account: AccountID,
        storefront: EventTypes.Storefront,
        store: ScenarioStore,
        wait: ScenarioWait
    ) {
        name = device.name
        self.account = account
        self.storefront = storefront
        self.store = store
        self.wait = wait
    }

    // MARK: - The app

    /// Starts the app.
    ///
    /// It has seen nothing yet.
    func start() throws {
        guard memory.withLock({ $0.queue == nil }) else {
            throw StepFailure("the app already runs on '\(name)'")
        }
        var configuration = StoreConfiguration(
            addresses: store.addresses,
            storefront: storefront.rawValue,
            language: "en",
            paymentMethod: { [weak self] _ in
                self?.memory.withLock { $0.method.rawValue } ?? ""
            },
            accountToken: { [store, account] _ in try await store.accountToken(account) }
        )
        configuration.logger = Logger(label: "scenario", factory: { _ in SwiftLogNoOpLogHandler() })
        configuration.retryBase = .milliseconds(50)
        configuration.retryMax = .seconds(1)
        configuration.paymentPatience = wait.limit
        configuration.codeRedemptionSheet = CodeRedemptionSheet(
            paymentMethod: { [weak self] in self?.memory.withLock { $0.method.rawValue } ?? "" },
            open: { [weak self] page in
                self?.memory.withLock { $0.codePage = page.absoluteString }
            }
        )
        let queue = SKPaymentQueue(
            configuration: configuration,
            callbacks: DispatchQueue(label: "scenario.\(name)")
        )
        memory.withLock { memory in
            memory.queue = queue
            memory.sightings = []
            memory.restores = 0
            memory.failedRestore = nil
            memory.shown = [:]
            memory.wasStarted = true
        }
        queue.add(self)
    }

    /// Starts the app unless it was started before.
    func startIfNew() throws {
        if memory.withLock({ !$0.wasStarted }) { try start() }
    }

    /// Kills the app.
    func stop() {
        let queue = memory.withLock { memory in
            defer { memory.queue = nil }
            return memory.queue
        }
        queue?.close()
    }

    private func running() throws -> SKPaymentQueue {
        try startIfNew()
        guard let queue = memory.withLock({ $0.queue }) else {
            throw StepFailure("the app does not run on '\(name)'; start it first")
        }
        return queue
    }

    /// Shows a product, and pays for it.
    func buy(
        _ purchase: ScenarioPurchase,
        _ product: ProductID,
        with discount: SKPaymentDiscount?
    ) async throws -> SKPaymentTransaction {
        let queue = try running()
        let payment = SKMutablePayment(product: try await show(product, purchase.product, queue))
        payment.quantity = purchase.quantity
        payment.paymentDiscount = discount
        if let offer = purchase.offer, offer.kind == .winBack { payment.winBackOffer = offer.name }
        memory.withLock { $0.method = purchase.method }
        return queue.begin(payment)
    }

    private func show(
        _ product: ProductID,
        _ name: String,
        _ queue: SKPaymentQueue
    ) async throws -> SKProduct {
        if let shown = memory.withLock({ $0.shown[product] }) { return shown }
        let answer = try await wait.until("the catalog") {
            do {
                return try await queue.products(for: [product.rawValue])
            } catch let error as SKError
                where error.code == .cloudServiceNetworkConnectionFailed
            {
                return nil
            }
        }
        guard let found = answer.products.first else {
            let place = queue.storefront?.countryCode ?? storefront.rawValue
            throw StepFailure("'\(name)' is not for sale in \(place)")
        }
        memory.withLock { $0.shown[product] = found }
        return found
    }

    /// Opens the store's page for codes.
    ///
    /// - Returns: Its address, which signs the account in.
    func openCodePage(payingBy method: SandboxPaymentMethod) async throws -> String {
        let queue = try running()
        memory.withLock { memory in
            memory.method = method
            memory.codePage = nil
        }
        queue.presentCodeRedemptionSheet()
        return try await wait.until("the page for codes") { memory.withLock { $0.codePage } }
    }

    /// Restores what the account owns, and waits until that has ended.
    func restore() async throws {
        let queue = try running()
        let count = memory.withLock { $0.restores }
        queue.restoreCompletedTransactions()
        try await wait.until("the restore on '\(name)' to end") {
            let (restores, failure) = memory.withLock { ($0.restores, $0.failedRestore) }
            if let failure { throw StepFailure("the restore on '\(name)' failed: \(failure)") }
            return restores > count ? () : nil
        }
    }

    /// Finishes a payment, once it has ended, or what the family of the payment's account shares of it
    /// with that of the device.
    func finish(_ payment: PlayedPayment) async throws {
        let queue = try running()
        let transaction = try await wait.until("'\(payment.name)' to end on '\(name)'") {
            let found = sightings.last { shows(payment, $0) }?.transaction
            let state = found?.transactionState
            return state == .purchasing || state == .deferred ? nil : found
        }
        try await queue.finish(transaction)
    }

    /// Shows whether a sighting is of a payment, or of what a family shares of it.
    private func shows(_ payment: PlayedPayment, _ sighting: Sighting) -> Bool {
        guard payment.account != account else { return payment.isOf(sighting.transaction) }
        let product = payment.transaction?.payment.productIdentifier
        return sighting.transaction.payment.productIdentifier == product
            && sighting.states.last != "finished"
    }

    /// Waits until the app knows its account's storefront.
    func waitToKnow(_ storefront: EventTypes.Storefront) async throws {
        guard let queue = memory.withLock({ $0.queue }) else { return }
        try await wait.until("'\(name)' to know its storefront") {
            queue.storefront?.countryCode == storefront.rawValue ? () : nil
        }
        memory.withLock { $0.shown = [:] }
    }

    // MARK: - What it has seen

    /// Everything that the device has seen since the app's last start.
    var sightings: [Sighting] { memory.withLock { $0.sightings } }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            note(transaction, Self.word(for: transaction.transactionState), of: queue)
        }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        removedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions { note(transaction, "finished", of: queue) }
    }

    func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue) {
        memory.withLock { $0.restores += 1 }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        restoreCompletedTransactionsFailedWithError error: any Error
    ) {
        memory.withLock { $0.failedRestore = "\(error)" }
    }

    private func note(
        _ transaction: SKPaymentTransaction,
        _ state: String,
        of queue: SKPaymentQueue
    ) {
        memory.withLock { memory in
            // A queue that was closed may still report.
            guard memory.queue === queue else { return }
            guard
                let index = memory.sightings.firstIndex(where: { $0.transaction === transaction })
            else {
                return memory.sightings.append(Sighting(transaction: transaction, states: [state]))
            }
            guard memory.sightings[index].states.last != state else { return }
            memory.sightings[index].states.append(state)
        }
    }

    private static func word(for state: SKPaymentTransactionState) -> String {
        switch state {
        case .purchasing: "purchasing"
        case .purchased: "purchased"
        case .failed: "failed"
        case .restored: "restored"
        case .deferred: "deferred"
        case .unknown(let name): name
        }
    }
}
