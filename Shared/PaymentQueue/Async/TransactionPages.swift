import EventTypes
import StoreAPI
import Synchronization

/// Transactions that the store is asked for, page by page, as they are iterated.
public struct TransactionPages: AsyncSequence, Sendable {
    /// A transaction of the account.
    public typealias Element = SKPaymentTransaction
    /// What iterating throws: ``SKError``, or `CancellationError`.
    public typealias Failure = any Error

    /// A page, and where the next one begins; `nil` after the last one.
    typealias Page = (transactions: [QueueChanged], next: Int64?)

    let queue: SKPaymentQueue
    let ask: @Sendable (StoreTransport, _ after: Int64) async throws -> Page

    /// Begins with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(pages: self) }

    /// Asks for a page when the one before is used up.
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
    /// What is unfinished, then every change of the account's transactions, for as long as somebody
    /// iterates.
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

    /// Every transaction of the account in this app, finished ones too, in the order of their last
    /// change (spec rule 105).
    public static var all: TransactionPages {
        TransactionPages(queue: .default()) { transport, after in
            let address = transport.configuration.addresses.fulfillment
            let response: HistoryResponse = try await transport.send(
                .get("\(address)\(Routes.history)?after=\(after)")
            )
            return (response.transactions, response.next)
        }
    }

    /// The transactions that gave the account what it owns: what an app unlocks when it starts.
    public static var currentEntitlements: TransactionPages {
        TransactionPages(queue: .default()) { transport, after in
            let address = transport.configuration.addresses.fulfillment
            let response: HistoryResponse = try await transport.send(
                .get("\(address)\(Routes.entitlementTransactions)?after=\(after)")
            )
            return (response.transactions, response.next)
        }
    }

    /// Finishes the transaction and waits until the store knows.
    ///
    /// See ``SKPaymentQueue/finish(_:)``.
    public func finish() async throws { try await queue.finish(self) }
}

/// The store as a whole, in the modern shape.
public enum AppStore {
    /// Where a store takes money, and where it does not.
    public struct Environment: RawRepresentable, Hashable, Sendable {
        /// The word in what was signed.
        public let rawValue: String
        /// Makes an environment of a word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Where money is taken.
        public static let production = Environment(rawValue: "Production")
        /// For development and tests.
        public static let sandbox = Environment(rawValue: "Sandbox")
    }

    /// Whether the buyer can make payments; the same value as ``SKPaymentQueue/canMakePayments()``
    /// (spec rule 1).
    public static var canMakePayments: Bool { SKPaymentQueue.canMakePayments() }

    /// Asks the store for everything that it has for this account, and tells observers of what is
    /// unfinished.
    ///
    /// Call it when a buyer misses a purchase and asks for it (spec rule 71).
    ///
    /// - Throws: ``SKError``, or `CancellationError`.
    public static func sync() async throws { try await SKPaymentQueue.default().sync() }
}

extension SKPaymentQueue {
    /// The object of a transaction: the one that observers know, if they know it.
    func transaction(_ change: QueueChanged) -> SKPaymentTransaction {
        if let known = state.withLock({ $0.pending.transaction(change.transaction.id) }) {
            return known
        }
        let transaction = SKPaymentTransaction(change)
        transaction.belong(to: self)
        return transaction
    }

    /// Asks for everything that is unfinished, and lets go of what is not.
    ///
    /// - Parameter untilAnswered: Whether a store that is away is asked until it answers.
    /// - Throws: ``SKError``, or `CancellationError`.
    func sync(untilAnswered: Bool = false) async throws {
        guard let transport else { throw SKError.notConfigured }
        let told = state.withLock { $0.pending.told }
        let question = StoreTransport.Question.get(
            transport.configuration.addresses.fulfillment + Routes.queueTransactions
        )
        do {
            let response: QueueResponse =
                untilAnswered
                ? try await transport.sendUntilAnswered(question)
                : try await transport.send(question)
            // Cancelled with the stream: the next one begins with what is unfinished.
            change {
                Task.isCancelled
                    ? .init() : $0.receive(response.transactions, insteadOf: told)
            }
        } catch let failure as StoreFailure {
            throw failure.error
        }
    }
}
