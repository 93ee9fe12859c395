import EventTypes
public import Foundation
import Logging
import ReceiptValidation
import StoreAPI

extension Transaction {
    /// Signed transactions that the store is asked for as they are iterated.
    public struct Transactions: AsyncSequence, Sendable {
        /// A transaction, verified or not.
        public typealias Element = VerificationResult<Transaction>
        /// What iterating throws: ``SKError``, or `CancellationError`.
        public typealias Failure = any Error

        let pages: TransactionPages

        /// Begins with the first.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(queue: pages.queue, base: pages.makeAsyncIterator())
        }

        /// Asks for the signature of each transaction when it is its turn.
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

    /// Signed transactions as they change, for as long as somebody iterates.
    public struct Updates: AsyncSequence, Sendable {
        /// A transaction, verified or not.
        public typealias Element = VerificationResult<Transaction>
        /// It never throws.
        public typealias Failure = Never

        let base: TransactionUpdates

        /// Begins to observe.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(queue: base.queue, base: base.makeAsyncIterator())
        }

        /// Observes until it is let go.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let queue: SKPaymentQueue
            fileprivate let base: TransactionUpdates.Iterator

            /// The next transaction; `nil` when the task is cancelled, or the program is configured
            /// for another store or account.
            ///
            /// One whose signature the store does not hand out stays unfinished, and comes again at
            /// the next launch; the log says so.
            public mutating func next() async -> VerificationResult<Transaction>? {
                while let transaction = await base.next() {
                    guard transaction.isBought else { continue }
                    do {
                        return try await queue.verified(transaction, untilAnswered: true)
                    } catch {
                        guard !Task.isCancelled else { return nil }
                        queue.logger.warning(
                            "A signed transaction was not told of; the next launch asks again",
                            metadata: ["transaction": "\(transaction)", "error": "\(error)"]
                        )
                    }
                }
                return nil
            }
        }
    }

    /// The purchases that are not finished, then every purchase and every refund as it happens.
    ///
    /// What is bought by ``Product/purchase(options:)`` comes here as well: see ``StepLog``.
    public static var updates: Updates {
        Updates(base: TransactionUpdates(queue: .default(), hearsOfRefunds: true))
    }

    /// The purchases that are not finished.
    public static var unfinished: Transactions {
        Transactions(pages: SKPaymentTransaction.unfinished)
    }

    /// Every purchase of the account in this app, finished or not, in the order of their last change
    /// (spec rule 105).
    public static var all: Transactions { Transactions(pages: SKPaymentTransaction.all) }

    /// The purchases that gave the account what it owns: what an app unlocks when it starts.
    ///
    /// Without network see ``SKPaymentQueue/ownedProducts(at:)``.
    public static var currentEntitlements: Transactions {
        Transactions(pages: SKPaymentTransaction.currentEntitlements)
    }

    /// The account's newest purchase of a product, finished or refunded ones too; `nil` if there is
    /// none.
    ///
    /// The store is asked for the account's whole history, a hundred transactions at a time.
    ///
    /// - Throws: ``SKError``, or `CancellationError`.
    public static func latest(
        for productID: String
    ) async throws -> VerificationResult<Transaction>? {
        try await newest(of: productID, in: SKPaymentTransaction.all)
    }

    /// The purchase that gave the account a product, if it owns it.
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
    /// Whether the store has signed it as a purchase; restored copies are none (spec rule 71).
    fileprivate var isBought: Bool { transactionState == .purchased && number != nil }

    fileprivate func isNewer(than other: SKPaymentTransaction) -> Bool {
        (number?.number ?? 0) > (other.number?.number ?? 0)
    }

    /// The transaction as the store signed it, a JWS in compact form in UTF-8, for a server to
    /// verify.
    ///
    /// StoreKit has it at hand; here the store is asked. It is `nil` unless the transaction is
    /// purchased or restored.
    ///
    /// - Throws: ``SKError``, `ReceiptRefusal` if ``StoreConfiguration/receiptTrust`` does not believe
    ///   it, or `CancellationError`.
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
    /// Asks the store for the signed form of a transaction, and verifies it.
    ///
    /// - Parameters:
    ///   - transaction: A transaction that is bought.
    ///   - untilAnswered: Whether a store that is away is asked until it answers, and one that has yet
    ///     to sign a refund until it has.
    /// - Returns: What was signed, and whether to believe it.
    /// - Throws: ``SKError``, or `CancellationError`.
    func verified(
        _ transaction: SKPaymentTransaction,
        untilAnswered: Bool = false
    ) async throws -> VerificationResult<Transaction> {
        guard let transport, let number = transaction.number else { throw SKError.notConfigured }
        // The queue may hear of a refund before it is signed.
        let isRefundAwaited = untilAnswered && transaction.revocationDate != nil
        for tries in 1...Self.refundTriesMax {
            let jws = try await signedTransaction(number, untilAnswered: untilAnswered)
            let result = try Self.verify(jws, of: transaction, by: validator)
            guard isRefundAwaited, result.unsafePayloadValue.revocationDate == nil else {
                return result
            }
            try await transport.pause(afterFailures: tries)
        }
        throw SKError(.unknown, detail: "the store has not signed the refund of \(number)")
    }

    /// How often a refund is asked for that is not signed yet; with the pauses about a minute.
    private static let refundTriesMax = 10

    /// Verifies what the store says is the signed form of a transaction.
    ///
    /// - Returns: What was signed, and whether to believe it.
    /// - Throws: ``SKError`` if nothing can be read of it at all.
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
                detail: "what the store gives as transaction \(transaction.id) is none"
            )
        }
        // The store's answer to one question, and no other transaction of this account.
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

    /// Asks the store for the signed form of a transaction.
    ///
    /// - Returns: A JWS in compact form, not verified yet.
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
