import EventTypes
public import Foundation
import Logging
import ReceiptValidation
import StoreAPI

extension Transaction {
    /// A sequence of signed transactions that are requested from the store during iteration.
    public struct Transactions: AsyncSequence, Sendable {
        /// A transaction with the result of its verification.
        public typealias Element = VerificationResult<Transaction>
        /// The error of the iteration: ``SKError`` or `CancellationError`.
        public typealias Failure = any Error

        let pages: TransactionPages

        /// Makes an iterator that begins with the first transaction.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(queue: pages.queue, base: pages.makeAsyncIterator())
        }

        /// An iterator that requests the signature of each transaction when it reaches it.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let queue: SKPaymentQueue
            fileprivate var base: TransactionPages.Iterator

            /// The next transaction.
            ///
            /// - Throws: ``SKError``, or `CancellationError`.
            public mutating func next() async throws -> VerificationResult<Transaction>? {
                while let transaction = try await base.next() {
                    if transaction.isBought { return try await queue.verified(transaction) }
                }
                return nil
            }
        }
    }

    /// A sequence of signed transactions as they change, for as long as the iteration lasts.
    public struct Updates: AsyncSequence, Sendable {
        /// A transaction with the result of its verification.
        public typealias Element = VerificationResult<Transaction>
        /// The iteration never throws.
        public typealias Failure = Never

        let base: TransactionUpdates

        /// Begins to observe the queue.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(queue: base.queue, base: base.makeAsyncIterator())
        }

        /// An iterator that observes the queue until it is released.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let queue: SKPaymentQueue
            fileprivate let base: TransactionUpdates.Iterator

            /// The next transaction; `nil` if the task is cancelled or the program is configured
            /// for another store or account.
            ///
            /// If the store does not provide the signature, the transaction stays unfinished and
            /// returns at the next launch. The queue logs this.
            public mutating func next() async -> VerificationResult<Transaction>? {
                while let transaction = await base.next() {
                    guard transaction.isBought else { continue }
                    do {
                        return try await queue.verified(transaction, untilAnswered: true)
                    } catch {
                        guard !Task.isCancelled else { return nil }
                        queue.logger.warning(
                            "A signed transaction was not delivered to the app; the next launch asks again",
                            metadata: ["transaction.id": "\(transaction)", "error": "\(error)"]
                        )
                    }
                }
                return nil
            }
        }
    }

    /// The unfinished purchases, followed by every purchase and every refund as it happens.
    ///
    /// Purchases made with ``Product/purchase(options:)`` arrive here as well. ``StepLog`` helps to
    /// deliver them only once.
    public static var updates: Updates {
        Updates(base: TransactionUpdates(queue: .default(), hearsOfRefunds: true))
    }

    /// The purchases that are not finished.
    public static var unfinished: Transactions {
        Transactions(pages: SKPaymentTransaction.unfinished)
    }

    /// All purchases of the account in this app, finished or not, in the order of their last change
    /// (spec rule 105).
    public static var all: Transactions { Transactions(pages: SKPaymentTransaction.all) }

    /// The purchases that gave the account the products it owns.
    ///
    /// An app unlocks these products when it starts.
    ///
    /// Without a network use ``SKPaymentQueue/ownedProducts(at:)``.
    public static var currentEntitlements: Transactions {
        Transactions(pages: SKPaymentTransaction.currentEntitlements)
    }

    /// Returns the account's newest purchase of a product, including finished and refunded
    /// purchases; `nil` if there is none.
    ///
    /// It reads the account's whole history from the store, a hundred transactions at a time.
    ///
    /// - Throws: ``SKError``, or `CancellationError`.
    public static func latest(
        for productID: String
    ) async throws -> VerificationResult<Transaction>? {
        try await newest(of: productID, in: SKPaymentTransaction.all)
    }

    /// Returns the purchase that gave the account a product; `nil` if the account does not own it.
    ///
    /// - Throws: ``SKError``, or `CancellationError`.
    public static func currentEntitlement(
        for productID: String
    ) async throws -> VerificationResult<Transaction>? {
        try await newest(of: productID, in: SKPaymentTransaction.currentEntitlements)
    }

    private static func newest(
        of productID: String,
        in pages: TransactionPages
    ) async throws -> VerificationResult<Transaction>? {
        var newest: SKPaymentTransaction?
        for try await transaction in pages
        where transaction.isBought && transaction.payment.productIdentifier == productID {
            if newest?.isNewer(than: transaction) != true { newest = transaction }
        }
        guard let newest else { return nil }
        return try await pages.queue.verified(newest)
    }
}

extension SKPaymentTransaction {
    /// Whether the store signs it as a purchase.
    ///
    /// It does not sign restored copies (spec rule 71).
    fileprivate var isBought: Bool { transactionState == .purchased && number != nil }

    fileprivate func isNewer(than other: SKPaymentTransaction) -> Bool {
        (number?.number ?? 0) > (other.number?.number ?? 0)
    }

    /// The transaction as the store signed it: a JWS in compact form, encoded in UTF-8, for a
    /// server to verify.
    ///
    /// StoreKit has it available locally. Here it is requested from the store. It is `nil` unless
    /// the transaction is purchased or restored.
    ///
    /// - Throws: ``SKError``, `ReceiptRefusal` if the transaction fails the checks of
    ///   ``StoreConfiguration/receiptTrust``, or `CancellationError`.
    public var transactionReceipt: Data? {
        get async throws {
            guard transactionState.isPaid, let number else { return nil }
            let queue = queue
            let jws = try await queue.signedTransaction(number)
            if let validator = queue.validator {
                _ = try validator.verify(jws, as: JWSTransaction.self)
            }
            return Data(jws.utf8)
        }
    }
}

extension SKPaymentQueue {
    /// Requests the signed form of a transaction from the store and verifies it.
    ///
    /// - Parameters:
    ///   - transaction: A purchased transaction.
    ///   - untilAnswered: Whether to retry until an unreachable store answers and all refunds and
    ///     reversals are signed.
    /// - Returns: The signed transaction with the result of its verification.
    /// - Throws: ``SKError``, or `CancellationError`.
    func verified(
        _ transaction: SKPaymentTransaction,
        untilAnswered: Bool = false
    ) async throws -> VerificationResult<Transaction> {
        guard let transport, let number = transaction.number else { throw SKError.notConfigured }
        // The queue may learn of a refund or its reversal before the store has signed it.
        let fields = transaction.fields
        let areRefundsAwaited =
            untilAnswered && (fields.revocationDate != nil || !fields.refunds.isEmpty)
        for tries in 1...Self.refundTriesMax {
            let jws = try await signedTransaction(number, untilAnswered: untilAnswered)
            let result = try Self.verify(jws, of: transaction, by: validator)
            if !areRefundsAwaited || result.unsafePayloadValue.hasRefunds(of: transaction) {
                return result
            }
            try await transport.pause(afterFailures: tries)
        }
        throw SKError(.unknown, detail: "the store has not signed the refunds of \(number)")
    }

    /// The number of requests for a refund that is not signed yet.
    ///
    /// With the pauses they take about a minute.
    private static let refundTriesMax = 10

    /// Verifies the store's answer to a request for the signed form of a transaction.
    ///
    /// - Returns: The signed transaction with the result of its verification.
    /// - Throws: ``SKError`` if the answer cannot be decoded at all.
    static func verify(
        _ jws: String,
        of transaction: SKPaymentTransaction,
        by validator: ReceiptValidator?
    ) throws -> VerificationResult<Transaction> {
        guard let signed = SignedText(jws), let claimed = signed.claimed,
            let value = Transaction(signed, payload: claimed, of: transaction)
        else {
            throw SKError(
                .unknown,
                detail: "the store's answer for \(transaction.id) is not a transaction"
            )
        }
        // The answer must be the requested transaction and no other transaction of this account.
        guard claimed.transactionId == transaction.number?.rawValue else {
            return .unverified(value, .invalidSignature)
        }
        guard let validator else { return .unverified(value, .invalidCertificateChain) }
        do {
            _ = try validator.verify(jws, as: JWSTransaction.self)
            return .verified(value)
        } catch {
            return .unverified(value, .init(error))
        }
    }

    /// Requests the signed form of a transaction from the store.
    ///
    /// - Returns: A JWS in compact form that is not verified yet.
    /// - Throws: ``SKError``, or `CancellationError`.
    fileprivate func signedTransaction(
        _ id: TransactionID,
        untilAnswered: Bool = false
    ) async throws -> String {
        guard let transport else { throw SKError.notConfigured }
        let question = StoreTransport.Question.get(
            transport.configuration.addresses.receipts + Routes.receipt(id)
        )
        do {
            let response: ReceiptResponse =
                untilAnswered
                ? try await transport.sendUntilAnswered(question)
                : try await transport.send(question)
            return response.signedTransaction
        } catch let failure as StoreFailure {
            throw failure.error
        }
    }
}
