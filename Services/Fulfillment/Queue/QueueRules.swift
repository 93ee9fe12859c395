import EventTypes

/// The rules for applying a version of a transaction to its queue, and for finishing.
///
/// Pure.
enum QueueRules {
    /// The change that a transaction from another service makes.
    struct Change: Hashable, Sendable {
        /// The transaction afterwards.
        var after: QueuedTransaction
        /// The deliveries to insert.
        var deliveries: [DeliveryRules.Delivery] = []
        /// Whether this change gives its credits and its entitlement.
        var isGranted = false
        /// Whether this change takes back what it gave.
        var isTakenBack = false
        /// Whether this change gives it again, because the refund was reversed.
        var isGivenBack = false
        /// Whether this change gives a period that a family shares another end.
        var isMoved = false
    }

    /// Applies a version of a transaction.
    ///
    /// Only the version decides, because a transaction arrives over two topics, and no order holds
    /// between them. If a refund overtakes its receipt, it leaves the purchase revoked, and the
    /// receipt then changes nothing. If the refund of a part overtakes the receipt, it is left to
    /// the receipt that is signed again for it: nothing is delivered without a receipt.
    ///
    /// - Parameters:
    ///   - transaction: The version.
    ///   - before: The queue's row, or `nil` if it has none.
    ///   - isReceipted: Whether the version came with its receipt.
    /// - Returns: The change, or `nil` if the queue has this version or a later one.
    static func apply(
        _ transaction: Transaction,
        to before: QueuedTransaction?,
        isReceipted: Bool = true
    ) -> Change? {
        if let before, before.version >= transaction.version { return nil }
        guard isForQueue(transaction) else { return nil }
        let wasPaid = before?.isPaid ?? false
        if transaction.isPaid, !wasPaid, transaction.revokedAt == nil, !isReceipted { return nil }
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
        let wasRevoked = before?.revokedAt != nil
        if change.after.isPaid && !wasPaid {
            change.deliveries = DeliveryRules.deliveries(of: transaction)
            change.isGranted = transaction.revokedAt == nil
            change.after.isDelivered = DeliveryRules.isDelivered(change.deliveries)
            change.deliveries += DeliveryRules.refunds(of: transaction)
        } else {
            change.isTakenBack = wasPaid && !wasRevoked && transaction.revokedAt != nil
            change.isGivenBack = wasPaid && wasRevoked && transaction.revokedAt == nil
            change.isMoved =
                wasPaid && !wasRevoked && transaction.revokedAt == nil
                && transaction.isSharedPeriod
            // Those that are pending or done already are left as they are.
            if wasPaid { change.deliveries = DeliveryRules.refunds(of: transaction) }
            change.after.isDelivered =
                switch transaction.state {
                // A transaction that was never paid, or was refunded, has no deliveries.
                case .failed: true
                case .purchased, .restored:
                    transaction.revokedAt != nil || (before?.isDelivered ?? false)
                case .purchasing, .deferred, .unknown: false
                }
        }
        return change
    }

    /// Whether a queue may show a version of a transaction.
    ///
    /// The store renews a subscription by itself, so the app learns only that it is renewed.
    static func isForQueue(_ transaction: Transaction) -> Bool {
        transaction.reason != .renewal || transaction.isPaid
    }

    /// The reasons to refuse a finish.
    enum Refusal: String, Hashable, Sendable, CaseIterable {
        /// The transaction does not exist, or it is somebody else's.
        ///
        /// Both must look the same.
        case unknown = "transaction_unknown"
        /// The store has not completed it yet (spec rule 54).
        case purchasing = "transaction_purchasing"
        /// It waits for an approval (spec rule 55).
        case deferred = "transaction_deferred"
        /// A delivery is not confirmed (spec rule 50).
        case notDelivered = "transaction_not_delivered"
        /// Only a newer version of the store can handle it (spec rule 41).
        case unknownState = "transaction_state_unknown"
    }

    /// The decision about a finish.
    enum FinishDecision: Hashable, Sendable {
        /// The transaction leaves the queue.
        case finish
        /// It left earlier, at this time.
        ///
        /// The answer is the same as then.
        case alreadyFinished(StoreTime)
        /// It stays in the queue.
        case refused(Refusal)
    }

    /// Decides a finish that is requested for a queue.
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
