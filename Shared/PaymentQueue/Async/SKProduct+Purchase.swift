import EventTypes

extension SKProduct {
    /// The outcome of a purchase.
    public enum PurchaseResult: Sendable {
        /// The buyer has paid. Deliver the product, then finish the transaction.
        case success(SKPaymentTransaction)
        /// The purchase waits for somebody's approval. Its outcome arrives through
        /// ``SKPaymentTransaction/updates``.
        case pending(SKPaymentTransaction)
        /// The buyer cancelled the purchase.
        case userCancelled
    }

    /// An option of a purchase.
    public enum PurchaseOption: Hashable, Sendable {
        /// The number of units to buy.
        case quantity(Int)
        /// The app's own opaque name for the buyer.
        case applicationUsername(String)
        /// Whether the sandbox asks for approval before it charges.
        case simulatesAskToBuyInSandbox(Bool)
        /// The promotional offer that the purchase redeems.
        case paymentDiscount(SKPaymentDiscount)
    }

    /// Asks the catalog for products and leaves out those that cannot be bought.
    ///
    /// - Throws: ``SKError``, or `CancellationError`.
    public static func products(for identifiers: some Sequence<String>) async throws -> [SKProduct]
    {
        try await SKPaymentQueue.default().products(for: identifiers).products
    }

    /// Buys the product and waits for the outcome.
    ///
    /// - Throws: ``SKError`` if the purchase failed. The queue finishes a failed transaction by
    ///   itself.
    public func purchase(options: Set<PurchaseOption> = []) async throws -> PurchaseResult {
        let payment = SKMutablePayment(product: self)
        for option in options {
            switch option {
            case .quantity(let quantity): payment.quantity = quantity
            case .applicationUsername(let name): payment.applicationUsername = name
            case .simulatesAskToBuyInSandbox(let asks): payment.simulatesAskToBuyInSandbox = asks
            case .paymentDiscount(let discount): payment.paymentDiscount = discount
            }
        }
        return try await SKPaymentQueue.default().purchase(payment)
    }
}

extension SKPaymentQueue {
    /// Adds a payment and waits for its outcome.
    ///
    /// This is the `async` form of ``add(_:)-(SKPayment)``.
    ///
    /// If the task is cancelled, it stops waiting but the payment goes on. Its outcome arrives
    /// through ``SKPaymentTransaction/updates``.
    ///
    /// - Throws: ``SKError`` if the payment failed, or `CancellationError`.
    public func purchase(_ payment: SKPayment) async throws -> SKProduct.PurchaseResult {
        // Start observing before the payment is added, so that no update is missed.
        let updates = TransactionUpdates(queue: self).makeAsyncIterator()
        let transaction = begin(payment)
        while let update = await updates.next() {
            guard update === transaction else { continue }
            switch update.transactionState {
            case .purchased: return .success(update)
            // A newer store may send a state that only a newer app can handle.
            case .deferred, .unknown: return .pending(update)
            case .failed:
                let error = update.error.map(SKError.init) ?? SKError(.unknown)
                finishTransaction(update)
                guard error.code != .paymentCancelled else { return .userCancelled }
                throw error
            case .purchasing, .restored: continue
            }
        }
        throw CancellationError()
    }
}
