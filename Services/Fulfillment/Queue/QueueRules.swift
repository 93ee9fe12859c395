import EventTypes

/// What a queue remembers of one transaction, as far as rules need it.
struct QueuedTransaction: Hashable, Sendable {
    let id: TransactionID
    let queue: QueueKey
    var version: Int
    var state: TransactionState
    var revokedAt: Timestamp?
    var isDelivered: Bool
    var finishedAt: Timestamp?
    /// The JSON of what is hosted for it, fixed when it entered the queue as paid.
    var contents: [UInt8]?
    /// The trace that it entered the queue by.
    var traceparent: String?

    /// Whether the store has received payment, or received it once for the original.
    var isPaid: Bool { state == .purchased || state == .restored }
}

/// What a version of a transaction does to its queue, and who may finish what.
///
/// Pure.
enum QueueRules {
    /// What becomes of a transaction that arrives from another service.
    struct Change: Hashable, Sendable {
        /// The transaction afterwards.
        var after: QueuedTransaction
        /// Rows of the deliveries ledger to write.
        var deliveries: [DeliveryRules.Delivery] = []
        /// Whether its credits and its entitlement are given with this change.
        var isGranted = false
        /// Whether what it gave is taken back with this change.
        var isTakenBack = false
    }

    /// Applies a version.
    ///
    /// The version alone decides, because two topics bring a transaction and nothing orders one
    /// against the other: a refund that overtakes its receipt leaves the purchase revoked, and the
    /// receipt then changes nothing.
    ///
    /// - Returns: `nil` if the queue knows this version or a later one.
    static func apply(_ transaction: Transaction, to before: QueuedTransaction?) -> Change? {
        if let before, before.version >= transaction.version { return nil }
        var change = Change(
            after: QueuedTransaction(
                id: transaction.id,
                queue: before?.queue ?? transaction.queue,
                version: transaction.version,
                state: transaction.state,
                revokedAt: transaction.revokedAt,
                isDelivered: false,
                finishedAt: before?.finishedAt,
                contents: before?.contents,
                traceparent: before?.traceparent
            )
        )
        let wasPaid = before?.isPaid ?? false
        let wasRevoked = before?.revokedAt != nil
        if change.after.isPaid && !wasPaid {
            change.deliveries = DeliveryRules.deliveries(of: transaction)
            change.isGranted = transaction.revokedAt == nil
            change.after.isDelivered = DeliveryRules.isDelivered(change.deliveries)
            change.deliveries += DeliveryRules.refunds(of: transaction)
        } else {
            change.isTakenBack = wasPaid && !wasRevoked && transaction.revokedAt != nil
            if change.isTakenBack { change.deliveries = DeliveryRules.refunds(of: transaction) }
            change.after.isDelivered =
                switch transaction.state {
                // Nothing is owed for what was never paid, or was given back.
                case .failed: true
                case .purchased, .restored:
                    transaction.revokedAt != nil || (before?.isDelivered ?? false)
                case .purchasing, .deferred, .unknown: false
                }
        }
        return change
    }

    /// Why a transaction is not finished.
    enum Refusal: String, Hashable, Sendable, CaseIterable {
        /// There is none, or it is somebody else's, which must look the same.
        case unknown = "transaction_unknown"
        /// The store is not done with it (spec rule 54).
        case purchasing = "transaction_purchasing"
        /// It waits for an approval (spec rule 55).
        case deferred = "transaction_deferred"
        /// A delivery that the store owes is not confirmed (spec rule 50).
        case notDelivered = "transaction_not_delivered"
        /// A newer version of the store knows what to do with it (spec rule 41).
        case unknownState = "transaction_state_unknown"
    }

    /// What a finish comes to.
    enum FinishDecision: Hashable, Sendable {
        /// It leaves the queue.
        case finish
        /// It left before; the answer is what it was then.
        case alreadyFinished(Timestamp)
        /// It stays.
        case refused(Refusal)
    }

    /// Decides a finish that comes from a queue's account and app.
    static func finish(_ transaction: QueuedTransaction?, from queue: QueueKey) -> FinishDecision {
        guard let transaction, transaction.queue == queue else { return .refused(.unknown) }
        if let finishedAt = transaction.finishedAt { return .alreadyFinished(finishedAt) }
        return switch transaction.state {
        case .purchasing: .refused(.purchasing)
        case .deferred: .refused(.deferred)
        case .unknown: .refused(.unknownState)
        case .failed: .finish
        case .purchased, .restored:
            transaction.isDelivered || transaction.revokedAt != nil
                ? .finish : .refused(.notDelivered)
        }
    }
}
