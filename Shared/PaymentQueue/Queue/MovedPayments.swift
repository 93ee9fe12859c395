import EventTypes

/// A payment that the store accepted but did not charge, because the account has since moved to
/// another storefront (spec rules 8 and 9).
struct MovedPayment: Sendable {
    /// The transaction that the app sees.
    ///
    /// It has not failed yet.
    let transaction: SKPaymentTransaction
    /// The store's transaction, which has failed.
    let id: TransactionID
    /// The storefront in which the payment was accepted.
    let storefront: EventTypes.Storefront

    init(_ transaction: SKPaymentTransaction, _ change: QueueChanged) {
        self.transaction = transaction
        id = change.transaction.id
        storefront = change.transaction.storefront
    }

    /// The idempotency key of the payment that continues this one.
    ///
    /// It is always the same, so the payment is continued only once.
    var idempotencyKey: IdempotencyKey { IdempotencyKey(unchecked: "continuation-of-\(id)") }
}

/// The moved payments that the app has not decided on or has stopped.
///
/// It does no I/O.
struct MovedPayments {
    /// The store's latest change of each transaction that the app is being asked about.
    private var asked: [TransactionID: QueueChanged] = [:]
    /// The transactions that the app has stopped.
    private var stopped: Set<TransactionID> = []

    /// Whether a change is held back until the app has decided whether the payment continues.
    func holds(_ change: QueueChanged) -> Bool {
        change.transaction.state == .failed
            && change.transaction.failureReason == .storefrontChanged
            && !stopped.contains(change.transaction.id)
    }

    /// Records a change that is held back.
    ///
    /// - Returns: Whether the app must be asked now. It is `false` if the app is already being
    ///   asked.
    mutating func ask(_ change: QueueChanged) -> Bool {
        asked.updateValue(change, forKey: change.transaction.id) == nil
    }

    /// Stops a payment because the app declined it or because it cannot continue.
    ///
    /// - Returns: The store's change, if it has not been shown yet.
    mutating func stop(_ id: TransactionID) -> QueueChanged? {
        stopped.insert(id)
        return asked.removeValue(forKey: id)
    }

    /// Forgets a payment that continues as another transaction or has left the queue.
    mutating func forget(_ id: TransactionID) {
        asked[id] = nil
        stopped.remove(id)
    }
}

extension QueueChanged {
    /// The transaction as it was when its payment was accepted.
    ///
    /// The version is 0, because the store has not reported this state.
    var asAccepted: QueueChanged {
        var before = self
        before.transaction.version = 0
        before.transaction.state = .purchasing
        before.transaction.purchasedAt = nil
        before.transaction.originalPurchasedAt = nil
        before.transaction.failureReason = nil
        before.transaction.revokedAt = nil
        before.transaction.refunds = nil
        before.isDelivered = false
        before.contents = nil
        return before
    }
}
