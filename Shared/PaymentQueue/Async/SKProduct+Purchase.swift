import EventTypes

extension SKProduct {
    /// How a purchase ended.
    public enum PurchaseResult: Sendable {
        /// Paid: deliver it, and finish the transaction.
        case success(SKPaymentTransaction)
        /// Waiting for somebody's approval; what becomes of it comes with
        /// ``SKPaymentTransaction/updates``.
        case pending(SKPaymentTransaction)
        /// The buyer called it off.
        case userCancelled
    }

    /// What a purchase is to be like.
    public enum PurchaseOption: Hashable, Sendable {
        /// How many.
        case quantity(Int)
        /// The app's own opaque name for the buyer.
        case applicationUsername(String)
        /// Whether the sandbox asks for approval before it charges.
        case simulatesAskToBuyInSandbox(Bool)
    }

    /// Asks the catalog for products; those that cannot be bought are left out.
    ///
    /// - Throws: ``SKError``, or `CancellationError`.
    public static func products(for identifiers: some Sequence<String>) async throws -> [SKProduct]
    {
        try await SKPaymentQueue.default().products(for: identifiers).products
    }

    /// Buys the product and waits for the outcome.
    ///
    /// - Throws: ``SKError`` when it failed; such a transaction is finished by the queue.
    public func purchase(options: Set<PurchaseOption> = []) async throws -> PurchaseResult {
        let payment = SKMutablePayment(product: self)
        for option in options {
            switch option {
            case .quantity(let quantity): payment.quantity = quantity
            case .applicationUsername(let name): payment.applicationUsername = name
            case .simulatesAskToBuyInSandbox(let asks): payment.simulatesAskToBuyInSandbox = asks
            }
        }
        return try await SKPaymentQueue.default().purchase(payment)
    }
}

extension SKPaymentQueue {
    /// Adds a payment and waits for its outcome; the `async` form of
    /// ``add(_:)-(SKPayment)``.
    ///
    /// A task that is cancelled stops waiting; the payment goes on, and what becomes of it comes with
    /// ``SKPaymentTransaction/updates``.
    ///
    /// - Throws: ``SKError`` when it failed, or `CancellationError`.
    public func purchase(_ payment: SKPayment) async throws -> SKProduct.PurchaseResult {
        // Observes before the payment is added, so that nothing is missed.
        let updates = TransactionUpdates(queue: self).makeAsyncIterator()
        let transaction = begin(payment)
        while let update = await updates.next() {
            guard update === transaction else { continue }
            switch update.transactionState {
            case .purchased: return .success(update)
            // A state of a newer store is one that a newer app may deal with.
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
