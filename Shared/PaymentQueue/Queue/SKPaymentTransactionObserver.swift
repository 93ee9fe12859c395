/// Hears of every change of the queue's transactions (spec rule 21).
///
/// All calls come on the queue's callback queue, one after the other.
public protocol SKPaymentTransactionObserver: AnyObject {
    /// Transactions were added to the queue or changed their state.
    func paymentQueue(
        _ queue: SKPaymentQueue,
        updatedTransactions transactions: [SKPaymentTransaction]
    )

    /// Transactions left the queue because they were finished, here or elsewhere.
    func paymentQueue(
        _ queue: SKPaymentQueue,
        removedTransactions transactions: [SKPaymentTransaction]
    )

    /// Every transaction of a restore was delivered (spec rule 64).
    func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue)

    /// A restore could not be made (spec rule 65).
    func paymentQueue(
        _ queue: SKPaymentQueue,
        restoreCompletedTransactionsFailedWithError error: any Error
    )

    /// Downloads of hosted content changed: their state, or how far they are (spec rule 122).
    func paymentQueue(_ queue: SKPaymentQueue, updatedDownloads downloads: [SKDownload])

    /// The account's storefront is another one (spec rule 8).
    func paymentQueueDidChangeStorefront(_ queue: SKPaymentQueue)

    /// The buyer began a purchase outside the app (spec rule 116).
    ///
    /// - Returns: Whether the queue adds the payment now; a payment that is not added now can be
    ///   added later with ``SKPaymentQueue/add(_:)-(SKPayment)``.
    func paymentQueue(
        _ queue: SKPaymentQueue,
        shouldAddStorePayment payment: SKPayment,
        for product: SKProduct
    ) -> Bool

    /// The store took products back, as after a refund.
    func paymentQueue(
        _ queue: SKPaymentQueue,
        didRevokeEntitlementsForProductIdentifiers productIdentifiers: [String]
    )
}

extension SKPaymentTransactionObserver {
    /// Does nothing.
    public func paymentQueue(
        _ queue: SKPaymentQueue,
        removedTransactions transactions: [SKPaymentTransaction]
    ) {}

    /// Does nothing.
    public func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue) {}

    /// Does nothing.
    public func paymentQueue(
        _ queue: SKPaymentQueue,
        restoreCompletedTransactionsFailedWithError error: any Error
    ) {}

    /// Does nothing.
    public func paymentQueue(_ queue: SKPaymentQueue, updatedDownloads downloads: [SKDownload]) {}

    /// Does nothing.
    public func paymentQueueDidChangeStorefront(_ queue: SKPaymentQueue) {}

    /// Adds the payment later: an app that does not expect a purchase shows it first.
    public func paymentQueue(
        _ queue: SKPaymentQueue,
        shouldAddStorePayment payment: SKPayment,
        for product: SKProduct
    ) -> Bool { false }

    /// Does nothing.
    public func paymentQueue(
        _ queue: SKPaymentQueue,
        didRevokeEntitlementsForProductIdentifiers productIdentifiers: [String]
    ) {}
}

/// Provides what the queue needs to complete transactions (spec rule 10).
///
/// All calls come on the queue's callback queue.
public protocol SKPaymentQueueDelegate: AnyObject {
    /// Whether a transaction goes on although the storefront has changed (spec rule 9).
    ///
    /// If so the buyer pays the new storefront's price; if not it fails with
    /// ``SKError/Code/storeProductNotAvailable`` and nobody is charged.
    ///
    /// It is asked for a payment that the store refuses, and for one that the store had accepted and
    /// had not charged when the account moved: one that waits for approval or for another payment. Until
    /// the app answers the transaction has not failed. It is asked again at the next launch if the
    /// app ends before it answers. Without a delegate an accepted payment does not go on.
    func paymentQueue(
        _ queue: SKPaymentQueue,
        shouldContinue transaction: SKPaymentTransaction,
        in newStorefront: SKStorefront
    ) -> Bool

    /// Whether the price consent sheet is shown now (spec rule 107); if not, the app calls
    /// ``SKPaymentQueue/showPriceConsentIfNeeded()`` later.
    func paymentQueueShouldShowPriceConsent(_ queue: SKPaymentQueue) -> Bool
}

extension SKPaymentQueueDelegate {
    /// Goes on.
    public func paymentQueue(
        _ queue: SKPaymentQueue,
        shouldContinue transaction: SKPaymentTransaction,
        in newStorefront: SKStorefront
    ) -> Bool { true }

    /// Shows it now.
    public func paymentQueueShouldShowPriceConsent(_ queue: SKPaymentQueue) -> Bool { true }
}

/// ``SKPaymentTransactionObserver`` without its prefix.
public typealias TransactionObserver = SKPaymentTransactionObserver

/// ``SKPaymentQueueDelegate`` without its prefix.
public typealias PaymentQueueDelegate = SKPaymentQueueDelegate
