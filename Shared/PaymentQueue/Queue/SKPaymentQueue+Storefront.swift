import EventTypes
import Foundation
import Logging
import StoreAPI
import Synchronization

extension SKPaymentQueue {
    /// Asks the delegate whether a payment goes on that was accepted in another storefront (spec rule
    /// 9), and carries out what it says.
    ///
    /// The store has not charged it. If it goes on, the buyer is charged the price of the storefront
    /// where the account buys now, under a key that is the payment's own: once, however often and on
    /// however many devices it is asked. Without a delegate it does not go on: nobody is charged a
    /// price that neither buyer nor app has agreed to.
    func continueOrStop(_ moved: MovedPayment) async {
        do {
            guard let transport, let storefront = try await newStorefront(of: moved),
                delegate != nil,
                await shouldContinue(moved.transaction, in: storefront)
            else { return change { $0.stop(moved) } }
            try await goOn(with: moved, transport)
        } catch {
            logger.warning(
                "A payment did not go on in the account's new storefront",
                metadata: ["transaction": "\(moved.transaction)", "error": "\(error)"]
            )
            change { $0.stop(moved) }
        }
    }

    /// Where the account buys now, asked for if that is not known yet; `nil` if it has moved back.
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

    /// Pays in the present storefront, and then lets go of the transaction that was not charged.
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
            // Another device has gone on with it, and tells of it as of any purchase.
            change { $0.withhold(moved.transaction) }
            change { $0.finish(moved.transaction) }
        }
        let question = StoreTransport.Question.post(
            addresses.fulfillment + Routes.finish(moved.id)
        )
        do {
            _ = try await transport.sendUntilAnswered(question, as: FinishResponse.self)
        } catch {
            // It is told of again at the next launch, and goes on under the same key.
            logger.info(
                "A payment that has gone on was not finished",
                metadata: ["error": "\(error)"]
            )
        }
    }
}
