import EventTypes
import StoreAPI
import Synchronization

/// A sequence of transactions that is requested from the store page by page during iteration.
public struct TransactionPages: AsyncSequence, Sendable {
    /// A transaction of the account.
    public typealias Element = SKPaymentTransaction
    /// The error of the iteration: ``SKError`` or `CancellationError`.
    public typealias Failure = any Error

    /// One page and the position of the next page.
    ///
    /// The position is `nil` after the last page.
    typealias Page = (transactions: [QueueChanged], next: Int64?)

    let queue: SKPaymentQueue
    let ask: @Sendable (StoreTransport, _ after: Int64) async throws -> Page

    /// Makes an iterator that begins with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(pages: self) }

    /// An iterator that requests the next page when the current one is used up.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let pages: TransactionPages
        private var waiting: ArraySlice<QueueChanged> = []
        private var next: Int64? = 0

        fileprivate init(pages: TransactionPages) { self.pages = pages }

        /// The next transaction.
        ///
        /// - Throws: ``SKError``, or `CancellationError`.
        public mutating func next() async throws -> SKPaymentTransaction? {
            while waiting.isEmpty {
                guard let after = next else { return nil }
                guard let transport = pages.queue.transport else {
                    throw SKError.notConfigured
                }
                do {
                    let page = try await pages.ask(transport, after)
                    waiting = page.transactions[...]
                    next = page.next
                } catch let failure as StoreFailure {
                    throw failure.error
                }
            }
            return pages.queue.transaction(waiting.removeFirst())
        }
    }
}

extension SKPaymentTransaction {
    /// The unfinished transactions, followed by every change of the account's transactions for as
    /// long as the iteration lasts.
    public static var updates: TransactionUpdates { TransactionUpdates(queue: .default()) }

    /// The transactions that are not finished.
    public static var unfinished: TransactionPages {
        TransactionPages(queue: .default()) { transport, _ in
            let address = transport.configuration.addresses.fulfillment
            let response: QueueResponse = try await transport.send(
                .get(address + Routes.queueTransactions)
            )
            return (response.transactions, nil)
        }
    }

    /// All transactions of the account in this app, including finished ones, in the order of their
    /// last change (spec rule 105).
    public static var all: TransactionPages {
        TransactionPages(queue: .default()) { transport, after in
            let address = transport.configuration.addresses.fulfillment
            let response: HistoryResponse = try await transport.send(
                .get("\(address)\(Routes.history)?after=\(after)")
            )
            return (response.transactions, response.next)
        }
    }

    /// The transactions that gave the account the products it owns.
    ///
    /// An app unlocks these products when it starts.
    public static var currentEntitlements: TransactionPages {
        TransactionPages(queue: .default()) { transport, after in
            let address = transport.configuration.addresses.fulfillment
            let response: HistoryResponse = try await transport.send(
                .get("\(address)\(Routes.entitlementTransactions)?after=\(after)")
            )
            return (response.transactions, response.next)
        }
    }

    /// Finishes the transaction and waits until the store has recorded it.
    ///
    /// See ``SKPaymentQueue/finish(_:)``.
    public func finish() async throws { try await queue.finish(self) }
}

/// Properties and methods of the whole store, in the style of StoreKit 2.
public enum AppStore {
    /// The environment of a store: production or sandbox.
    public struct Environment: RawRepresentable, Hashable, Sendable {
        /// The environment's name in signed data.
        public let rawValue: String
        /// Makes an environment from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The environment that charges real money.
        public static let production = Environment(rawValue: "Production")
        /// The environment for development and tests.
        public static let sandbox = Environment(rawValue: "Sandbox")
    }

    /// Whether the buyer can make payments; the same value as ``SKPaymentQueue/canMakePayments()``
    /// (spec rule 1).
    public static var canMakePayments: Bool { SKPaymentQueue.canMakePayments() }

    /// Requests all of this account's data from the store and tells observers about unfinished
    /// transactions.
    ///
    /// Call this method when a buyer reports a missing purchase (spec rule 71).
    ///
    /// - Throws: ``SKError``, or `CancellationError`.
    public static func sync() async throws { try await SKPaymentQueue.default().sync() }
}

extension SKPaymentQueue {
    /// Returns the object for a transaction.
    ///
    /// If observers already know the transaction, it is their object.
    func transaction(_ change: QueueChanged) -> SKPaymentTransaction {
        if let known = state.withLock({ $0.pending.transaction(change.transaction.id) }) {
            return known
        }
        let transaction = SKPaymentTransaction(change)
        transaction.belong(to: self)
        return transaction
    }

    /// Requests all unfinished transactions and forgets those that are no longer unfinished.
    ///
    /// - Parameter untilAnswered: Whether to retry an unreachable store until it answers.
    /// - Throws: ``SKError``, or `CancellationError`.
    func sync(untilAnswered: Bool = false) async throws {
        guard let transport else { throw SKError.notConfigured }
        let reported = state.withLock { $0.pending.reported }
        let question = StoreTransport.Question.get(
            transport.configuration.addresses.fulfillment + Routes.queueTransactions
        )
        do {
            let response: QueueResponse =
                untilAnswered
                ? try await transport.sendUntilAnswered(question)
                : try await transport.send(question)
            // The task is cancelled together with the stream. The next stream begins with
            // everything unfinished.
            change {
                Task.isCancelled
                    ? .init() : $0.receive(response.transactions, insteadOf: reported)
            }
        } catch let failure as StoreFailure {
            throw failure.error
        }
    }
}
