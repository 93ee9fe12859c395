import EventTypes
public import Foundation
import Synchronization

/// A transaction in the payment queue.
///
/// The same object represents it from its first state to its last. It is safe to read on any
/// thread.
public final class SKPaymentTransaction: Sendable, CustomStringConvertible {
    struct Fields: Sendable {
        var id: TransactionID?
        var version = 0
        var state: SKPaymentTransactionState
        var error: SKError?
        var date: Date?
        /// The reason for which the store made it; `nil` before the store has answered.
        var reason: TransactionReason?
        var originalID: TransactionID?
        var originalDate: Date?
        var revocationDate: Date?
        var refunds: [Refund] = []
        /// The part of the price that was refunded, in thousandths of a percent.
        var refundedMilliPercent: Int64?
        var price: Money?
        var contents: [HostedContent] = []
        var isDelivered = false
        /// Whether the buyer has to confirm the payment.
        var awaitsBuyer = false
    }

    private struct Guarded: ~Copyable {
        var fields: Fields
        /// The queue from which it arrived first.
        var queue: SKPaymentQueue?
        /// Whether the transaction is finished, as far as this program knows.
        var hasLeft = false
        /// One download for each content, created at the first access.
        var downloads: [SKDownload] = []
        /// The callers that wait until it can be finished.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let guarded: Mutex<Guarded>
    /// The payment of the transaction.
    public let payment: SKPayment

    init(payment: SKPayment, fields: Fields) {
        self.payment = payment
        guarded = Mutex(Guarded(fields: fields))
    }

    /// The state of the transaction.
    public var transactionState: SKPaymentTransactionState { fields.state }
    /// The transaction's number in the store; `nil` unless it is purchased or restored (spec rule
    /// 43).
    public var transactionIdentifier: String? {
        let fields = fields
        return fields.state.isPaid ? fields.id?.rawValue : nil
    }
    /// The date of the purchase or restore; `nil` unless it is purchased or restored.
    public var transactionDate: Date? { fields.date }
    /// The reason for the failure, an ``SKError``; `nil` unless the transaction failed.
    public var error: (any Error)? { fields.error }
    /// The first transaction of the same purchase, or of the same subscription; `nil` if this is the
    /// first one (spec rules 63 and 77).
    public var original: SKPaymentTransaction? {
        let fields = fields
        guard let originalID = fields.originalID, originalID != fields.id else { return nil }
        let original = SKPaymentTransaction(
            payment: payment,
            fields: Fields(
                id: originalID,
                state: .purchased,
                date: fields.originalDate,
                reason: .purchase,
                originalID: originalID,
                originalDate: fields.originalDate,
                isDelivered: true
            )
        )
        if let queue = guarded.withLock({ $0.queue }) { original.belong(to: queue) }
        return original
    }
    /// The total price that was paid, in units of the currency.
    ///
    /// It is zero if the store charged nothing, for example for a product that is already owned
    /// (spec rule 104). It is `nil` until the store provides it.
    public var price: Decimal? { fields.price?.decimal }
    /// The date of the refund that took the product away; `nil` if the buyer has the product.
    ///
    /// A refund of a part may leave the product to the buyer, and a reversed refund gives it back.
    public var revocationDate: Date? { fields.revocationDate }
    /// The downloads that the store hosts for the transaction.
    ///
    /// They are the same objects each time.
    public var downloads: [SKDownload] {
        guarded.withLock { guarded in
            if guarded.downloads.isEmpty, let id = guarded.fields.id {
                guarded.downloads = guarded.fields.contents.map {
                    SKDownload($0, of: self, id, in: guarded.queue)
                }
            }
            return guarded.downloads
        }
    }
    /// Whether all deliveries by the store are confirmed, so that the transaction can be finished.
    public var isDelivered: Bool { fields.isDelivered }
    /// Whether the buyer has to confirm the payment on a page of their bank, as with 3-D Secure.
    ///
    /// The transaction is `purchasing` all the while. Observers are called when it begins and when it
    /// ends, on every device of the account.
    public var awaitsBuyer: Bool { fields.awaitsBuyer }

    /// A short description of the transaction.
    public var description: String {
        let fields = fields
        return "\(payment.productIdentifier) ×\(payment.quantity), \(fields.state)"
            + (fields.id.map { ", \($0)" } ?? "")
    }

    /// The transaction's number in the store in every state, or a dash before the store has
    /// answered.
    ///
    /// A program can store it in a set, in place of the object.
    public var id: String { fields.id?.rawValue ?? "-" }

    /// The transaction's number in the store in every state; `nil` before the store has answered.
    var number: TransactionID? { fields.id }

    /// The queue that the transaction is in or was in.
    ///
    /// It has the store and the account of the purchase.
    ///
    /// The transaction retains the queue, so it can still be finished after the program has been
    /// configured for another account.
    var queue: SKPaymentQueue { guarded.withLock { $0.queue } ?? .default() }

    /// Sets the queue of the transaction.
    ///
    /// Only the first call has an effect.
    func belong(to queue: SKPaymentQueue) {
        guarded.withLock { $0.queue = $0.queue ?? queue }
    }

    /// Whether the transaction is finished, either here or elsewhere with notice to this program.
    ///
    /// This differs from the queue's list, which is empty while there are no observers.
    var hasLeft: Bool { guarded.withLock { $0.hasLeft } }

    /// Marks the transaction as finished.
    func leave() { guarded.withLock { $0.hasLeft = true } }

    /// The fields that are currently shown.
    var fields: Fields { guarded.withLock { $0.fields } }

    /// Shows the store's state.
    ///
    /// It is called on the callback queue just before the observers, so that they see each state
    /// (spec rule 42).
    func show(_ fields: Fields) {
        guarded.withLock { guarded in
            // Fields from before the store's answer must not remove the number.
            let id = fields.id ?? guarded.fields.id
            guarded.fields = fields
            guarded.fields.id = id
        }
        if fields.isDelivered { wake() }
    }

    /// Records that the store has accepted the payment.
    func bind(to id: TransactionID) {
        guarded.withLock { $0.fields.id = id }
    }

    /// Waits until the store has made its deliveries.
    ///
    /// It returns early if the task is cancelled.
    func waitUntilDelivered() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = guarded.withLock { guarded in
                    guard !guarded.fields.isDelivered, !Task.isCancelled else { return true }
                    guarded.waiting.append(continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            wake()
        }
    }

    private func wake() {
        let waiting = guarded.withLock { guarded in
            defer { guarded.waiting = [] }
            return guarded.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

extension SKPaymentTransaction {
    /// Whether the transaction delivers an earlier purchase once more: it was restored, or bought
    /// while it was owned.
    var isCopy: Bool { fields.reason?.isCopy ?? false }

    /// Makes a transaction that first appears in the store.
    ///
    /// - Parameters:
    ///   - change: The store's state of the transaction.
    ///   - fields: The fields to show first; `nil` shows those of the change.
    convenience init(_ change: QueueChanged, fields: Fields? = nil) {
        let transaction = change.transaction
        let product = SKProduct(of: transaction, contents: change.contents ?? [])
        let payment = SKPayment(
            product: product,
            fields: .init(
                productIdentifier: product.productIdentifier,
                quantity: transaction.quantity,
                applicationUsername: transaction.applicationUsername
            )
        )
        self.init(payment: payment, fields: fields ?? Fields(change))
        if change.finishedAt != nil { leave() }
    }
}

extension SKPaymentTransaction.Fields {
    /// Returns the fields of a payment that the store did not accept.
    func failed(with error: SKError) -> Self {
        var fields = self
        fields.state = .failed
        fields.error = error
        return fields
    }

    /// Reads the store's state of a transaction.
    init(_ change: QueueChanged) {
        let transaction = change.transaction
        self.init(
            id: transaction.id,
            version: transaction.version,
            state: SKPaymentTransactionState(transaction.state),
            error: transaction.state == .failed ? SKError(transaction.failureReason) : nil,
            date: transaction.purchasedAt?.date,
            reason: transaction.reason,
            originalID: transaction.originalID,
            originalDate: transaction.originalPurchasedAt?.date,
            revocationDate: transaction.revokedAt?.date,
            refunds: transaction.refunds ?? [],
            refundedMilliPercent: transaction.refundedMilliPercent,
            price: transaction.price,
            contents: change.contents ?? [],
            isDelivered: change.isDelivered,
            awaitsBuyer: transaction.awaitsBuyer ?? false
        )
    }
}
