public import Dispatch
import EventTypes
import Logging
import ReceiptValidation
import StoreAPI
import Synchronization

/// The queue of the account's transactions: payments go in, and every transaction that is not
/// finished comes out, at every launch again, until it is finished.
///
/// Configure it once with ``configure(_:callbacks:)``, add an observer as early as possible, and
/// finish every transaction after what it paid for is delivered. The first observer opens the stream
/// to the store, the removal of the last one closes it; without observers nothing is asked (spec
/// rules 12 and 14).
///
/// Safe to use from any thread. Observers are called on ``callbacks``, one call after the other.
public final class SKPaymentQueue: Sendable {
    struct State: ~Copyable {
        var pending = PendingTransactions()
        var account: AccountState
        var observers: [AppObserver] = []
        var delegate = WeakAppObject()
        /// Ends of restores that there was nobody to tell of.
        var restoresUntold: [RestoreEnd] = []
        var session: Task<Void, Never>?
        /// Asks for everything that is unfinished, while that is to be known anew.
        var reconciliation: Task<Void, Never>?
        /// Whether another configuration has taken its place.
        var isClosed = false
    }

    private static let current = Mutex<SKPaymentQueue?>(nil)

    /// The queue that observers and delegates are called on.
    public let callbacks: DispatchQueue
    let transport: StoreTransport?
    /// Believes what the store has signed; `nil` where the app does not say whom to believe.
    let validator: ReceiptValidator?
    let state: Mutex<State>
    let logger: Logger

    init(configuration: StoreConfiguration?, callbacks: DispatchQueue) {
        transport = configuration.map(StoreTransport.init)
        validator = configuration?.receiptTrust.map(ReceiptValidator.init)
        let storefront = configuration.map { EventTypes.Storefront(unchecked: $0.storefront) }
        state = Mutex(State(account: AccountState(configured: storefront)))
        logger = configuration?.logger ?? Logger(label: "counterfoil.payment-queue")
        self.callbacks = callbacks
    }

    // MARK: - The default queue

    /// Says which store the program uses, and as whom; the queue of before ends.
    ///
    /// - Parameters:
    ///   - configuration: The store and the account.
    ///   - callbacks: Where observers and delegates are called: a serial queue.
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

    /// The one queue of the configured app and account (spec rule 3).
    ///
    /// Without a configuration it warns once, and the queue that it returns does nothing (spec rule
    /// 4).
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

    /// Whether the buyer can make payments: there is a store, and it lets the account pay (spec rule
    /// 1).
    ///
    /// Never waits for the network: what the store has said last, and before that `true`. The store
    /// refuses the payments of an account that may not pay, whatever this says (spec rule 2).
    public static func canMakePayments() -> Bool {
        let queue = `default`()
        return queue.transport != nil && queue.state.withLock { $0.account.canMakePayments }
    }

    /// The buyer's storefront (spec rule 5); `nil` without a configuration.
    ///
    /// Never waits for the network.
    public var storefront: SKStorefront? {
        transport.map { SKStorefront(EventTypes.Storefront(unchecked: storefrontCode($0))) }
    }

    /// Who is asked what only the app knows (spec rule 10); held weakly.
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
    /// It is told of every unfinished transaction; the first one opens the stream to the store.
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

    /// Removes an observer; with the last one the stream to the store ends.
    ///
    /// A restore that is under way then has failed: the next observer is told so. What it restored
    /// is unfinished, and told of like everything else.
    public func remove(_ observer: any SKPaymentTransactionObserver) {
        let observer = AppObserver(observer: observer)
        state.withLock { state in
            state.observers.removeAll { $0 === observer }
            if state.observers.isEmpty { state.endSession() }
        }
    }

    /// Tells the observers of every unfinished transaction again, as when a program comes back from
    /// the background (spec rule 46).
    public func applicationDidBecomeActive() {
        state.withLock { state in
            let known = state.pending.all
            guard !known.isEmpty else { return }
            tell(state.observers) { $0.paymentQueue(self, updatedTransactions: known) }
        }
    }

    // MARK: - Transactions

    /// The transactions that are not finished; those of the store only while somebody observes (spec
    /// rule 32).
    public var transactions: [SKPaymentTransaction] { state.withLock { $0.pending.all } }

    /// Adds a payment.
    ///
    /// Observers are told of the transaction at once, in the state `purchasing`, and of everything
    /// that becomes of it. It is sent until the store has answered, under one idempotency key, so it
    /// is charged once. A payment that cannot be right, such as one for a quantity of zero, fails at
    /// once with ``SKError/Code/paymentInvalid`` and is not sent (spec rules 24 and 25).
    public func add(_ payment: SKPayment) {
        begin(payment)
    }

    /// Finishes a transaction: what it paid for is delivered, and it leaves the queue.
    ///
    /// It is sent until the store has answered, as soon as the store has made its own deliveries,
    /// and is safe to call twice. A transaction that waits for approval is not finished: the call
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
                    "A transaction was not finished; the store will tell of it again",
                    metadata: ["transaction": "\(transaction)", "error": "\(error)"]
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
    /// Lets go of the observers, of the stream and of what is known.
    private func close() {
        // Let go outside the lock: an observer that ends here may call the queue.
        let observers = state.withLock { state in
            let observers = state.observers
            state.observers = []
            state.isClosed = true
            state.endSession()
            // Its transactions hold the queue, for as long as the app holds them.
            state.pending = PendingTransactions()
            tellLast(observers, state.restoresUntold)
            state.restoresUntold = []
            return observers
        }
        for observer in observers { observer.endFollowing() }
    }

    /// Changes what is known and tells the observers, so that they hear of it in its order.
    func change(_ body: (inout PendingTransactions) -> PendingTransactions.News) {
        let news = state.withLock { state in
            guard !state.isClosed else { return PendingTransactions.News() }
            let news = body(&state.pending)
            deliver(news, to: state.observers)
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
        for account in news.account { receive(account: account) }
        for moved in news.moved { Task { await self.continueOrStop(moved) } }
    }

    /// Calls every observer, on the callback queue.
    func tell(_ call: @escaping @Sendable (any SKPaymentTransactionObserver) -> Void) {
        state.withLock { tell($0.observers, call) }
    }

    /// Calls observers, on the callback queue: those of this moment, as far as they are not removed
    /// by then.
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
            tell(observers) { ($0 as? UpdatesObserver)?.receive(refunded: news.refunded) }
        }
        if !news.removed.isEmpty {
            tell(observers) { $0.paymentQueue(self, removedTransactions: news.removed) }
        }
    }
}
