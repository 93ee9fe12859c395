import EventTypes
import Foundation
import Logging
import StoreAPI
import Synchronization

extension SKPaymentQueue {
    /// Asks the delegate whether a payment from an earlier storefront continues, and carries out
    /// the decision (spec rule 9).
    ///
    /// The store has not charged the payment. If it continues, the buyer is charged the price of
    /// the account's current storefront. The request has an idempotency key derived from the
    /// payment, so it is charged once, no matter how often and on how many devices the app decides.
    /// Without a delegate the payment does not continue, because neither the buyer nor the app has
    /// agreed to the new price.
    func continueOrStop(_ moved: MovedPayment) async {
        do {
            guard let transport, let storefront = try await newStorefront(of: moved),
                delegate != nil,
                await shouldContinue(moved.transaction, in: storefront)
            else { return change { $0.stop(moved) } }
            try await goOn(with: moved, transport)
        } catch {
            logger.warning(
                "A payment did not continue in the account's new storefront",
                metadata: ["transaction.id": "\(moved.transaction)", "error": "\(error)"]
            )
            change { $0.stop(moved) }
        }
    }

    /// Returns the account's current storefront and asks the store if it is not known yet; `nil` if
    /// the account has moved back.
    private func newStorefront(
        of moved: MovedPayment
    ) async throws -> EventTypes.Storefront? {
        func known() -> EventTypes.Storefront? {
            let storefront = state.withLock { $0.account.storefront }
            return storefront == moved.storefront ? nil : storefront
        }
        if let storefront = known() { return storefront }
        try await refreshAccount()
        return known()
    }

    /// Pays in the current storefront, then removes the transaction that was not charged.
    private func goOn(with moved: MovedPayment, _ transport: StoreTransport) async throws {
        let payment = moved.transaction.payment
        let response = try await products(for: [payment.productIdentifier])
        guard let product = response.products.first,
            let productID = ProductID(rawValue: payment.productIdentifier),
            let storefront = EventTypes.Storefront(rawValue: product.storefront)
        else { throw SKError(.storeProductNotAvailable) }
        let request = PaymentRequest(
            productID: productID,
            quantity: payment.quantity,
            storefront: storefront,
            price: product.money,
            paymentMethod: try await transport.paymentMethod(for: payment),
            applicationUsername: payment.applicationUsername
        )
        let addresses = transport.configuration.addresses
        change { $0.send(moved.transaction) }
        do {
            let response: TransactionResponse = try await transport.sendUntilAnswered(
                .post(
                    addresses.payments + Routes.payments,
                    request,
                    idempotencyKey: moved.idempotencyKey
                )
            )
            change { $0.goOn(moved, as: response.transaction.id) }
        } catch let failure as StoreFailure where failure.code == "idempotency_key_reused" {
            // Another device has continued the payment. It arrives like any other purchase.
            change { $0.withhold(moved.transaction) }
            change { $0.finish(moved.transaction) }
        }
        let question = StoreTransport.Question.post(
            addresses.fulfillment + Routes.finish(moved.id)
        )
        do {
            _ = try await transport.sendUntilAnswered(question, as: FinishResponse.self)
        } catch {
            // The payment arrives again at the next launch and continues under the same key.
            logger.info(
                "A payment that has gone on was not finished",
                metadata: ["error": "\(error)"]
            )
        }
    }
}
