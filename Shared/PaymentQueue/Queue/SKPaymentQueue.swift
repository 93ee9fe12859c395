public import Dispatch
import EventTypes
import Logging
import ReceiptValidation
import StoreAPI
import Synchronization

/// The queue of the account's transactions.
///
/// The app adds payments and receives every unfinished transaction, again at each launch, until it
/// is finished. Configure the queue once with ``configure(_:callbacks:)`` and add an observer as
/// early as possible. Finish every transaction after its product is delivered. The first observer
/// opens the stream to the store, and the removal of the last one closes it. Without observers the
/// queue requests nothing (spec rules 12 and 14).
///
/// It is safe to use from any thread. Observers are called on ``callbacks``, one call at a time.
public final class SKPaymentQueue: Sendable {
    struct State: ~Copyable {
        var pending = PendingTransactions()
        var account: AccountState
        var prices = PriceQuestions()
        var observers: [AppObserver] = []
        var delegate = WeakAppObject()
        /// Outcomes of restores that no observer has received yet.
        var restoresUntold: [RestoreEnd] = []
        var session: Task<Void, Never>?
        /// The task that requests all unfinished transactions, while they must be reloaded.
        var reconciliation: Task<Void, Never>?
        /// The task that asks for price increases, until the store has answered.
        var priceSearch: Task<Void, Never>?
        /// The groups of which the store has told the app that the account may have an introductory
        /// offer.
        var introductoryGroups: Set<String> = []
        /// The payments and the subscriptions for whose pages the store is asked.
        var buyerActions = BuyerActionRounds()
        /// Whether another configuration has replaced this queue.
        var isClosed = false
    }

    private static let current = Mutex<SKPaymentQueue?>(nil)

    /// The dispatch queue on which observers and delegates are called.
    public let callbacks: DispatchQueue
    let transport: StoreTransport?
    /// The validator for the store's signatures; `nil` if the app does not configure a
    /// `receiptTrust`.
    let validator: ReceiptValidator?
    let state: Mutex<State>
    let logger: Logger

    /// Makes a queue beside the default one.
    ///
    /// A program that acts for several devices has one for each.
    package init(configuration: StoreConfiguration?, callbacks: DispatchQueue) {
        transport = configuration.map(StoreTransport.init)
        validator = configuration?.receiptTrust.map(ReceiptValidator.init)
        let storefront = configuration.map { EventTypes.Storefront(unchecked: $0.storefront) }
        state = Mutex(State(account: AccountState(configured: storefront)))
        logger = configuration?.logger ?? Logger(label: "counterfoil.payment-queue")
        self.callbacks = callbacks
    }

    // MARK: - The default queue

    /// Configures the store and the account of the program.
    ///
    /// An earlier queue ends.
    ///
    /// - Parameters:
    ///   - configuration: The store and the account.
    ///   - callbacks: The serial dispatch queue on which observers and delegates are called.
    public static func configure(
        _ configuration: StoreConfiguration,
        callbacks: DispatchQueue = DispatchQueue(label: "counterfoil.payment-queue")
    ) {
        let queue = SKPaymentQueue(configuration: configuration, callbacks: callbacks)
        let before = current.withLock { current in
            defer { current = queue }
            return current
        }
        before?.close()
    }

    /// Returns the one queue of the configured app and account (spec rule 3).
    ///
    /// Without a configuration it logs a warning once and returns a queue that does nothing (spec
    /// rule 4).
    public static func `default`() -> SKPaymentQueue {
        current.withLock { current in
            if let current { return current }
            let queue = SKPaymentQueue(
                configuration: nil,
                callbacks: DispatchQueue(label: "counterfoil.payment-queue.inert")
            )
            queue.logger.warning(
                "There is no store: call SKPaymentQueue.configure before anything else"
            )
            current = queue
            return queue
        }
    }

    /// Whether the buyer can make payments: there is a store, and it allows the account to pay
    /// (spec rule 1).
    ///
    /// It never waits for the network. It returns the store's last answer, or `true` before the
    /// first answer. The store refuses payments of an account that is not allowed to pay, whatever
    /// this method returns (spec rule 2).
    public static func canMakePayments() -> Bool {
        let queue = `default`()
        return queue.transport != nil && queue.state.withLock { $0.account.canMakePayments }
    }

    /// The buyer's storefront (spec rule 5); `nil` without a configuration.
    ///
    /// It never waits for the network.
    public var storefront: SKStorefront? {
        transport.map { SKStorefront(EventTypes.Storefront(unchecked: storefrontCode($0))) }
    }

    /// The delegate, which makes decisions that only the app can make (spec rule 10).
    ///
    /// It is held weakly.
    public var delegate: (any SKPaymentQueueDelegate)? {
        get { state.withLock { $0.delegate }.object as? any SKPaymentQueueDelegate }
        set {
            let delegate = WeakAppObject(object: newValue)
            state.withLock { $0.delegate = delegate }
        }
    }

    // MARK: - Observers

    /// The active observers (spec rule 13).
    public var transactionObservers: [any SKPaymentTransactionObserver] {
        state.withLock { $0.observers }.map(\.observer)
    }

    /// Adds an observer.
    ///
    /// It receives every unfinished transaction. The first observer opens the stream to the store.
    public func add(_ observer: any SKPaymentTransactionObserver) {
        let observer = AppObserver(observer: observer)
        let isClosed = state.withLock { state in
            guard !state.isClosed else { return true }
            guard !state.observers.contains(where: { $0 === observer }) else { return false }
            state.observers.append(observer)
            let known = state.pending.all
            if !known.isEmpty {
                tell([observer]) { $0.paymentQueue(self, updatedTransactions: known) }
            }
            if !observer.isFollower {
                for end in state.restoresUntold { tell([observer], end) }
                state.restoresUntold = []
            }
            if state.session == nil, let transport {
                state.session = Task { await self.follow(transport) }
            }
            return false
        }
        guard isClosed else { return }
        logger.warning(
            "An observer was added to a queue that SKPaymentQueue.configure has replaced"
        )
        observer.endFollowing()
    }

    /// Removes an observer.
    ///
    /// Removing the last one closes the stream to the store.
    ///
    /// A restore that is in progress then fails, and the next observer is informed of it. The
    /// restored transactions are unfinished and arrive like all others.
    public func remove(_ observer: any SKPaymentTransactionObserver) {
        let observer = AppObserver(observer: observer)
        state.withLock { state in
            state.observers.removeAll { $0 === observer }
            if state.observers.isEmpty { state.endSession() }
        }
    }

    /// Sends every unfinished transaction to the observers again, as when a program returns from
    /// the background (spec rule 46).
    public func applicationDidBecomeActive() {
        state.withLock { state in
            tell(state.observers) { ($0 as? any QueueFollower)?.queueDidConnect() }
            let known = state.pending.all
            guard !known.isEmpty else { return }
            tell(state.observers) { $0.paymentQueue(self, updatedTransactions: known) }
        }
    }

    // MARK: - Transactions

    /// The unfinished transactions.
    ///
    /// The store's transactions are included only while there are observers (spec rule 32).
    public var transactions: [SKPaymentTransaction] { state.withLock { $0.pending.all } }

    /// Adds a payment.
    ///
    /// Observers immediately receive the transaction in the state `purchasing`, and later every
    /// change of it. The payment is sent until the store answers, under one idempotency key, so it
    /// is charged once. A payment that cannot be valid, such as one with the quantity zero, fails
    /// immediately with ``SKError/Code/paymentInvalid`` and is not sent (spec rules 24 and 25).
    public func add(_ payment: SKPayment) {
        begin(payment)
    }

    /// Finishes a transaction, which then leaves the queue.
    ///
    /// Call it after delivery.
    ///
    /// The request is sent as soon as the store has made its own deliveries, and repeated until the
    /// store answers. It is safe to call twice. For a transaction that waits for approval the call
    /// only logs a warning (see ``finish(_:)``).
    ///
    /// - Precondition: The transaction is not in the state `purchasing` (spec rule 54).
    public func finishTransaction(_ transaction: SKPaymentTransaction) {
        precondition(
            transaction.transactionState != .purchasing,
            "A transaction in the state purchasing cannot be finished."
        )
        Task {
            do {
                try await self.finish(transaction)
            } catch {
                self.logger.warning(
                    "A transaction was not finished; the store will report it again",
                    metadata: ["transaction.id": "\(transaction)", "error": "\(error)"]
                )
            }
        }
    }
}

extension SKPaymentQueue.State {
    fileprivate mutating func endSession() {
        session?.cancel()
        session = nil
        reconciliation?.cancel()
        reconciliation = nil
        priceSearch?.cancel()
        priceSearch = nil
        restoresUntold += Array(
            repeating: .failed(
                SKError(
                    .unknown,
                    detail: "all observers were removed while the restore was under way"
                )
            ),
            count: pending.forgetStream()
        )
    }
}

extension SKPaymentQueue {
    /// Releases the observers, the stream and the known transactions.
    package func close() {
        // Release them outside the lock, because the deinitializer of an observer may call the
        // queue.
        let observers = state.withLock { state in
            let observers = state.observers
            state.observers = []
            state.isClosed = true
            state.endSession()
            // The app's transactions retain the queue, so the queue must not retain transactions.
            state.pending = PendingTransactions()
            tellLast(observers, state.restoresUntold)
            state.restoresUntold = []
            return observers
        }
        for observer in observers { observer.endFollowing() }
    }

    /// Changes the known transactions and informs the observers in the same order.
    func change(_ body: (inout PendingTransactions) -> PendingTransactions.News) {
        let news = state.withLock { state in
            guard !state.isClosed else { return PendingTransactions.News() }
            let news = body(&state.pending)
            deliver(news, to: state.observers)
            // What a family shares uses up no offer of the member's own (rule S45).
            for (transaction, fields) in news.updates.joined()
            where fields.state == .purchased && fields.reason != .familyShared {
                let group = transaction.payment.product.subscriptionGroupIdentifier
                if let group { state.introductoryGroups.remove(group) }
            }
            for _ in 0..<news.restoresEnded { end(.finished, &state) }
            for _ in 0..<news.restoresLost {
                end(
                    .failed(SKError(.unknown, detail: "the store has lost what it restored")),
                    &state
                )
            }
            if news.hasStoreGoneBack { reconcile(&state) }
            return news
        }
        askForBuyerActions()
        for account in news.account { receive(account: account) }
        for subscription in news.subscriptions { receive(subscription: subscription) }
        for moved in news.moved { Task { await self.continueOrStop(moved) } }
    }

    /// Calls every observer on the callback queue.
    func tell(_ call: @escaping @Sendable (any SKPaymentTransactionObserver) -> Void) {
        state.withLock { tell($0.observers, call) }
    }

    /// Calls the current observers on the callback queue, except those that have been removed by
    /// then.
    func tell(
        _ observers: [AppObserver],
        _ call: @escaping @Sendable (any SKPaymentTransactionObserver) -> Void
    ) {
        callbacks.async {
            for observer in observers where self.isRegistered(observer) { call(observer.observer) }
        }
    }

    func isRegistered(_ observer: AppObserver) -> Bool {
        state.withLock { $0.observers.contains { $0 === observer } }
    }

    private func deliver(_ news: PendingTransactions.News, to observers: [AppObserver]) {
        for updates in news.updates {
            for update in updates { update.transaction.belong(to: self) }
            callbacks.async {
                for (transaction, fields) in updates { transaction.show(fields) }
            }
            let transactions = updates.map(\.transaction)
            tell(observers) { $0.paymentQueue(self, updatedTransactions: transactions) }
        }
        if !news.silent.isEmpty {
            callbacks.async {
                for (transaction, fields) in news.silent { transaction.show(fields) }
            }
        }
        if !news.revoked.isEmpty {
            tell(observers) {
                $0.paymentQueue(self, didRevokeEntitlementsForProductIdentifiers: news.revoked)
            }
        }
        if !news.refunded.isEmpty {
            for transaction in news.refunded { transaction.belong(to: self) }
            tell(observers) { ($0 as? any QueueFollower)?.receive(refunded: news.refunded) }
        }
        if !news.removed.isEmpty {
            tell(observers) { $0.paymentQueue(self, removedTransactions: news.removed) }
        }
    }
}
