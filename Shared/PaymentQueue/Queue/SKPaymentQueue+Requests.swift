import EventTypes
import Foundation
import Logging
import StoreAPI
import Synchronization

extension SKPaymentQueue {
    /// The error for a transaction in a state that does not allow finishing.
    public struct NotFinishable: Error, Hashable, CustomStringConvertible {
        /// The state of the transaction.
        public let state: SKPaymentTransactionState

        /// Makes an error.
        public init(state: SKPaymentTransactionState) { self.state = state }

        /// The reason as text.
        public var description: String {
            switch state {
            case .deferred: "it waits for approval; wait until it is purchased or has failed"
            case .purchasing: "it is still purchasing; wait until it is purchased or has failed"
            default: "its state, \(state), is known to a newer version only; update the app"
            }
        }
    }

    /// Finishes a transaction and waits until the store has recorded it.
    ///
    /// It waits until the store has made its own deliveries, and retries until there is an answer.
    ///
    /// - Throws: ``NotFinishable`` if the state does not allow finishing (spec rules 54 and 55),
    ///   ``SKError`` if the store refuses, or `CancellationError`.
    public func finish(_ transaction: SKPaymentTransaction) async throws {
        // The transaction belongs to the account of an earlier configuration. Only its own queue
        // has that account's token.
        guard transaction.queue === self else {
            return try await transaction.queue.finish(transaction)
        }
        let state = transaction.transactionState
        guard state.isFinishable else { throw NotFinishable(state: state) }
        // Only this queue knows a transaction that failed before the store accepted it.
        if let id = transaction.number, let transport {
            try await finish(id, of: transaction, transport)
        }
        transaction.leave()
        tearDownDownloads(of: transaction)
        change { $0.finish(transaction) }
    }

    private func finish(
        _ id: TransactionID,
        of transaction: SKPaymentTransaction,
        _ transport: StoreTransport
    ) async throws {
        let question = StoreTransport.Question.post(
            transport.configuration.addresses.fulfillment + Routes.finish(id)
        )
        var refusals = 0
        while true {
            do {
                _ = try await transport.sendUntilAnswered(question, as: FinishResponse.self)
                return
            } catch let failure as StoreFailure where failure.code == "transaction_not_delivered" {
                // The stream reports the delivery. Without a stream the store is asked again at
                // intervals.
                refusals += 1
                let count = refusals
                try await withThrowingTaskGroup(of: Void.self) { group in
                    if !transaction.isDelivered {
                        group.addTask { await transaction.waitUntilDelivered() }
                    }
                    group.addTask { try await transport.pause(afterFailures: count) }
                    defer { group.cancelAll() }
                    try await group.next()
                }
                try Task.checkCancellation()
            } catch let failure as StoreFailure {
                throw failure.error
            }
        }
    }

    /// Adds a payment to the queue and sends it.
    ///
    /// - Returns: The transaction of the payment.
    @discardableResult
    package func begin(_ payment: SKPayment) -> SKPaymentTransaction {
        let transaction = SKPaymentTransaction(
            payment: payment.copy(),
            fields: .init(state: .purchasing)
        )
        transaction.belong(to: self)
        guard !state.withLock({ $0.isClosed }) else {
            logger.warning(
                "A payment was added to a queue that SKPaymentQueue.configure has replaced"
            )
            return transaction
        }
        change { $0.begin(transaction) }
        if transactionObservers.isEmpty {
            logger.warning("A payment was added while nobody observes the queue")
        }
        Task {
            do {
                let id = try await self.send(transaction)
                self.change { $0.bind(transaction, to: id) }
            } catch {
                self.change { $0.refuse(transaction, with: SKError(error)) }
            }
        }
        return transaction
    }

    private func send(_ transaction: SKPaymentTransaction) async throws -> TransactionID {
        guard let transport else {
            throw SKError.notConfigured
        }
        let payment = transaction.payment
        var request = try request(for: payment)
        // The buyer may take a long time to choose.
        request.paymentMethod = try await transport.paymentMethod(for: payment)
        let patience = Patience.untilUnlessHeard(.now + transport.configuration.paymentPatience)
        while true {
            change { $0.send(transaction) }
            do {
                let response: TransactionResponse = try await transport.sendUntilAnswered(
                    .post(
                        transport.configuration.addresses.payments + Routes.payments,
                        request,
                        idempotencyKey: IdempotencyKey(unchecked: UUID().uuidString)
                    ),
                    patience: patience
                )
                return response.transaction.id
            } catch StoreFailure.refused(let problem) {
                // The delegate may also take a long time to answer.
                change { $0.withhold(transaction) }
                forget(request.offer, of: payment.product, refusedBy: problem)
                guard let storefront = problem.currentStorefront, storefront != request.storefront,
                    await shouldContinue(transaction, in: storefront)
                else { throw SKError(problem) }
                let response = try await products(for: [payment.productIdentifier])
                guard let product = response.products.first else { throw SKError(problem) }
                request.storefront = storefront
                request.price = product.money
                if request.offer != nil {
                    guard let offer = shownOffer(of: product, for: payment) else {
                        throw SKError(problem)
                    }
                    request.offer = offer
                }
            }
        }
    }

    /// The request that is sent to the store.
    ///
    /// It charges nothing yet.
    private func request(for payment: SKPayment) throws -> PaymentRequest {
        guard payment.quantity > 0 else {
            throw SKError(
                .paymentInvalid,
                detail: "the quantity is \(payment.quantity), and has to be above zero"
            )
        }
        guard payment.requestData == nil else {
            throw SKError(
                .unauthorizedRequestData,
                detail: "requestData is reserved, and has to be nil"
            )
        }
        // Use the storefront of the product's price, not the storefront that is known by now.
        let code = payment.product.storefront
        guard let productID = ProductID(rawValue: payment.productIdentifier),
            let storefront = EventTypes.Storefront(rawValue: code)
        else {
            throw SKError(
                .storeProductNotAvailable,
                detail: "“\(payment.productIdentifier)” in “\(code)” is not the name of a product"
                    + " and a storefront"
            )
        }
        return PaymentRequest(
            productID: productID,
            quantity: payment.quantity,
            storefront: storefront,
            price: payment.product.money,
            paymentMethod: "",
            applicationUsername: payment.applicationUsername,
            purchaseIntentID: payment.fields.purchaseIntentID.flatMap(
                PurchaseIntentID.init(rawValue:)
            ),
            offer: shownOffer(of: payment.product, for: payment),
            discount: payment.fields.paymentDiscount?.wire,
            promotionalOffer: payment.fields.promotionalOffer?.compactJWS,
            introductoryOfferEligibility: payment.fields.introductoryOfferEligibility
        )
    }

    /// Asks the catalog for products (spec rule 99).
    ///
    /// - Throws: ``SKError``, or `CancellationError`.
    public func products(for identifiers: some Sequence<String>) async throws -> SKProductsResponse
    {
        guard let transport else {
            throw SKError.notConfigured
        }
        let configuration = transport.configuration
        // Malformed identifiers are not sent, because a comma or a space would change the query.
        let identifiers = Set(identifiers).sorted()
        let possible = identifiers.filter { ProductID(rawValue: $0) != nil }
        guard !possible.isEmpty else {
            return SKProductsResponse(products: [], invalidProductIdentifiers: identifiers)
        }
        let query =
            "?ids=\(possible.joined(separator: ","))"
            + "&storefront=\(storefrontCode(transport))&language=\(configuration.language)"
        do {
            let response: StoreAPI.ProductsResponse = try await transport.send(
                .get(configuration.addresses.catalog + Routes.products + query)
            )
            let impossible = Set(identifiers).subtracting(possible).sorted()
            return SKProductsResponse(
                products: try await transport.products(of: response),
                invalidProductIdentifiers: response.invalidProductIDs + impossible
            )
        } catch let failure as StoreFailure {
            throw failure.error
        }
    }
}

extension StoreTransport {
    /// Asks the program for the payment method to charge.
    func paymentMethod(for payment: SKPayment) async throws -> PaymentMethod {
        if payment.simulatesAskToBuyInSandbox { return SandboxPaymentMethod.needsApproval.method }
        return PaymentMethod(rawValue: try await configuration.paymentMethod(payment))
    }
}
