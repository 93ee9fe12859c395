import EventTypes

/// A payment that the store had accepted and did not charge, because the account buys in another
/// storefront by now (spec rules 8 and 9).
struct MovedPayment: Sendable {
    /// What the app is shown; it has not failed yet.
    let transaction: SKPaymentTransaction
    /// The transaction of the store, which has failed.
    let id: TransactionID
    /// Where it was to be paid.
    let storefront: EventTypes.Storefront

    init(_ transaction: SKPaymentTransaction, _ change: QueueChanged) {
        self.transaction = transaction
        id = change.transaction.id
        storefront = change.transaction.storefront
    }

    /// The idempotency key of the payment that goes on, the same whenever and wherever it is asked
    /// for: one payment goes on once.
    var idempotencyKey: String { "continuation-of-\(id)" }
}

/// The moved payments of which the app has not said yet whether they go on, or has said no.
///
/// No I/O.
struct MovedPayments {
    /// What the store said of those that the app is being asked about.
    private var asked: [TransactionID: QueueChanged] = [:]
    /// Those that do not go on.
    private var stopped: Set<TransactionID> = []

    /// Whether what the store says is not shown before the app has said whether it goes on.
    func holds(_ change: QueueChanged) -> Bool {
        change.transaction.state == .failed
            && change.transaction.failureReason == .storefrontChanged
            && !stopped.contains(change.transaction.id)
    }

    /// Notes what is held.
    ///
    /// - Returns: Whether the app is to be asked now, and is not being asked already.
    mutating func ask(_ change: QueueChanged) -> Bool {
        asked.updateValue(change, forKey: change.transaction.id) == nil
    }

    /// The app says no, or it cannot go on.
    ///
    /// - Returns: What the store said, if it is still to be shown.
    mutating func stop(_ id: TransactionID) -> QueueChanged? {
        stopped.insert(id)
        return asked.removeValue(forKey: id)
    }

    /// It goes on as another transaction, or has left the queue.
    mutating func forget(_ id: TransactionID) {
        asked[id] = nil
        stopped.remove(id)
    }
}

extension QueueChanged {
    /// As it was before it failed.
    var purchasing: QueueChanged {
        var before = self
        before.transaction.state = .purchasing
        before.transaction.failureReason = nil
        before.transaction.version = 0
        return before
    }
}
