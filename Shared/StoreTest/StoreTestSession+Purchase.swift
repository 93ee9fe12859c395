public import EventTypes
import NIOHTTP1
import PaymentQueue
import StoreAPI
import Synchronization

extension StoreTestSession {
    /// Buys a product outside the app under test, which hears of it in its queue.
    ///
    /// The charge succeeds, unless the session's settings say otherwise.
    ///
    /// - Parameters:
    ///   - product: The id of the product.
    ///   - quantity: The number of units, from 1 to 10.
    /// - Returns: The transaction as it was accepted; the charge comes after it.
    /// - Throws: ``StoreTestError``, or an error of the network.
    @discardableResult
    public func buyProduct(
        _ product: String,
        quantity: Int = 1
    ) async throws -> EventTypes.Transaction {
        let (account, storefront) = state.withLock { ($0.account, $0.storefront) }
        guard let id = ProductID(rawValue: product) else {
            throw StoreTestError.notSold(product: product)
        }
        let listed = try await connection.send(
            .GET,
            addresses.catalog + Routes.products + "?ids=\(id)&storefront=\(storefront)",
            by: account,
            as: ProductsResponse.self
        )
        guard let listing = listed.products.first else {
            throw StoreTestError.notSold(product: product)
        }
        return try await connection.send(
            .POST,
            addresses.payments + Routes.payments,
            PaymentRequest(
                productID: id,
                quantity: quantity,
                storefront: storefront,
                price: listing.price,
                paymentMethod: SandboxPaymentMethod.success.method
            ),
            by: account,
            as: TransactionResponse.self
        ).transaction
    }
}
