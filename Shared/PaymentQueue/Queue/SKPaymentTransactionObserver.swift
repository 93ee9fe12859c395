/// An observer of all changes of the queue's transactions (spec rule 21).
///
/// All calls arrive on the queue's callback queue, one at a time.
public protocol SKPaymentTransactionObserver: AnyObject {
    /// Transactions were added to the queue, changed their state, or wait for their buyer
    /// (``SKPaymentTransaction/awaitsBuyer``) or no longer do.
    func paymentQueue(
        _ queue: SKPaymentQueue,
        updatedTransactions transactions: [SKPaymentTransaction]
    )

    /// Transactions left the queue because they were finished, here or elsewhere.
    func paymentQueue(
        _ queue: SKPaymentQueue,
        removedTransactions transactions: [SKPaymentTransaction]
    )

    /// All transactions of a restore have arrived (spec rule 64).
    func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue)

    /// A restore failed (spec rule 65).
    func paymentQueue(
        _ queue: SKPaymentQueue,
        restoreCompletedTransactionsFailedWithError error: any Error
    )

    /// Downloads of hosted content changed their state or progress (spec rule 122).
    func paymentQueue(_ queue: SKPaymentQueue, updatedDownloads downloads: [SKDownload])

    /// The account's storefront has changed (spec rule 8).
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

    /// The store has revoked products, for example after a refund.
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

    /// Returns `false`: an app that does not expect the purchase can show it first.
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
    /// Whether a transaction continues although the storefront has changed (spec rule 9).
    ///
    /// If it continues, the buyer pays the price of the new storefront. If not, it fails with
    /// ``SKError/Code/storeProductNotAvailable`` and nobody is charged.
    ///
    /// The delegate is asked about a payment that the store refuses. It is also asked about a
    /// payment that the store had accepted but not yet charged when the account moved, because it
    /// was waiting for approval or for another payment. Until the app answers, the transaction has
    /// not failed. If the app ends before it answers, it is asked again at the next launch. Without
    /// a delegate an accepted payment does not continue.
    func paymentQueue(
        _ queue: SKPaymentQueue,
        shouldContinue transaction: SKPaymentTransaction,
        in newStorefront: SKStorefront
    ) -> Bool

    /// Whether to show the price consent sheet now (spec rule 107).
    ///
    /// If not, the app calls ``SKPaymentQueue/showPriceConsentIfNeeded()`` later.
    func paymentQueueShouldShowPriceConsent(_ queue: SKPaymentQueue) -> Bool
}

extension SKPaymentQueueDelegate {
    /// Returns `true`: the transaction continues.
    public func paymentQueue(
        _ queue: SKPaymentQueue,
        shouldContinue transaction: SKPaymentTransaction,
        in newStorefront: SKStorefront
    ) -> Bool { true }

    /// Returns `true`: the sheet is shown now.
    public func paymentQueueShouldShowPriceConsent(_ queue: SKPaymentQueue) -> Bool { true }
}

/// ``SKPaymentTransactionObserver`` without its prefix.
public typealias TransactionObserver = SKPaymentTransactionObserver

/// ``SKPaymentQueueDelegate`` without its prefix.
public typealias PaymentQueueDelegate = SKPaymentQueueDelegate
