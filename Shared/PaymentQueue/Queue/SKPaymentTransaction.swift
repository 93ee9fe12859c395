import EventTypes
public import Foundation
import Synchronization

/// One transaction in the payment queue.
///
/// The same object from its first state to its last; safe to read on any thread.
public final class SKPaymentTransaction: Sendable, CustomStringConvertible {
    struct Fields: Sendable {
        var id: TransactionID?
        var version = 0
        var state: SKPaymentTransactionState
        var error: SKError?
        var date: Date?
        var originalID: TransactionID?
        var originalDate: Date?
        var revocationDate: Date?
        var price: Money?
        var contents: [HostedContent] = []
        var isDelivered = false
    }

    private struct Guarded: ~Copyable {
        var fields: Fields
        /// The queue that told of it first.
        var queue: SKPaymentQueue?
        /// Whether it is finished, as far as this program knows.
        var hasLeft = false
        /// One for each of its contents, made when they are asked for first.
        var downloads: [SKDownload] = []
        /// Those who wait until it can be finished.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let guarded: Mutex<Guarded>
    /// What was asked for.
    public let payment: SKPayment

    init(payment: SKPayment, fields: Fields) {
        self.payment = payment
        guarded = Mutex(Guarded(fields: fields))
    }

    /// Where it stands.
    public var transactionState: SKPaymentTransactionState { fields.state }
    /// Its number in the store; `nil` unless it is purchased or restored (spec rule 43).
    public var transactionIdentifier: String? {
        let fields = fields
        return fields.state.isPaid ? fields.id?.rawValue : nil
    }
    /// When it was purchased or restored; `nil` unless it is.
    public var transactionDate: Date? { fields.date }
    /// Why it failed, an ``SKError``; `nil` unless it did.
    public var error: (any Error)? { fields.error }
    /// The first transaction of the same purchase; `nil` unless this is another one (spec rules 63
    /// and 77).
    public var original: SKPaymentTransaction? {
        let fields = fields
        guard let originalID = fields.originalID, originalID != fields.id else { return nil }
        let original = SKPaymentTransaction(
            payment: payment,
            fields: Fields(
                id: originalID,
                state: .purchased,
                date: fields.originalDate,
                originalID: originalID,
                originalDate: fields.originalDate,
                isDelivered: true
            )
        )
        if let queue = guarded.withLock({ $0.queue }) { original.belong(to: queue) }
        return original
    }
    /// What was paid for all of it, in units of the currency; zero where the store charged nobody,
    /// as for a product that is owned already (spec rule 104), and `nil` before the store says so.
    public var price: Decimal? { fields.price?.decimal }
    /// When it was refunded; `nil` unless it was.
    public var revocationDate: Date? { fields.revocationDate }
    /// What the store hosts for it; the same objects each time.
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
    /// Whether every delivery that the store owes is confirmed, so that it can be finished.
    public var isDelivered: Bool { fields.isDelivered }

    /// The transaction in a few words.
    public var description: String {
        let fields = fields
        return "\(payment.productIdentifier) ×\(payment.quantity), \(fields.state)"
            + (fields.id.map { ", \($0)" } ?? "")
    }

    /// Its number in the store in every state, or a dash before the store has answered: what a
    /// program may keep in a set, beside the object itself.
    public var id: String { fields.id?.rawValue ?? "-" }

    /// Its number in the store in every state; `nil` before the store has answered.
    var number: TransactionID? { fields.id }

    /// The queue that it is in, or was in: of the store and account that it was bought from.
    ///
    /// It keeps the queue, so that it can be finished there also when the program has been
    /// configured for another account meanwhile.
    var queue: SKPaymentQueue { guarded.withLock { $0.queue } ?? .default() }

    /// A queue tells of it; the first one counts.
    func belong(to queue: SKPaymentQueue) {
        guarded.withLock { $0.queue = $0.queue ?? queue }
    }

    /// Whether it is finished: here, or elsewhere and this program was told.
    ///
    /// Not whether the queue has it in its list: that is empty while nobody observes.
    var hasLeft: Bool { guarded.withLock { $0.hasLeft } }

    /// It is finished.
    func leave() { guarded.withLock { $0.hasLeft = true } }

    /// What is shown of it at present.
    var fields: Fields { guarded.withLock { $0.fields } }

    /// Shows what the store says; called where observers are called, just before they are, so that
    /// they see each state (spec rule 42).
    func show(_ fields: Fields) {
        guarded.withLock { guarded in
            // What was said before the store had answered must not take the number away again.
            let id = fields.id ?? guarded.fields.id
            guarded.fields = fields
            guarded.fields.id = id
        }
        if fields.isDelivered { wake() }
    }

    /// The store has taken the payment.
    func bind(to id: TransactionID) {
        guarded.withLock { $0.fields.id = id }
    }

    /// Waits until the store has delivered what it owes.
    ///
    /// Returns early when the task is cancelled.
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
    /// A transaction that the store tells of first.
    convenience init(_ change: QueueChanged) {
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
        self.init(payment: payment, fields: Fields(change))
        if change.finishedAt != nil { leave() }
    }
}

extension SKPaymentTransaction.Fields {
    /// The store has not taken the payment.
    func failed(with error: SKError) -> Self {
        var fields = self
        fields.state = .failed
        fields.error = error
        return fields
    }

    /// What the store says of a transaction.
    init(_ change: QueueChanged) {
        let transaction = change.transaction
        self.init(
            id: transaction.id,
            version: transaction.version,
            state: SKPaymentTransactionState(transaction.state),
            error: transaction.state == .failed ? SKError(transaction.failureReason) : nil,
            date: transaction.purchasedAt?.date,
            originalID: transaction.originalID,
            originalDate: transaction.originalPurchasedAt?.date,
            revocationDate: transaction.revokedAt?.date,
            price: transaction.price,
            contents: change.contents ?? [],
            isDelivered: change.isDelivered
        )
    }
}
