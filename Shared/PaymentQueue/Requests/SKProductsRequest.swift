/// A request to the catalog for products with given identifiers (spec rule 99), or for all products
/// on sale (rule 98).
public final class SKProductsRequest: SKRequest,
    @unchecked Sendable  // A subclass has to repeat it. This one adds only a constant.
{
    /// The requested identifiers; `nil` requests all products.
    private let productIdentifiers: Set<String>?

    /// Makes a request; ``SKRequest/start()`` sends it.
    public init(productIdentifiers: Set<String>) {
        self.productIdentifiers = productIdentifiers
        super.init()
    }

    private init(everythingOnSale: Void) {
        productIdentifiers = nil
        super.init()
    }

    /// Makes a request for all products on sale in the buyer's storefront.
    ///
    /// ``SKRequest/start()`` sends it.
    ///
    /// StoreKit has no such request. There an app contains its identifiers or loads them from its
    /// own server.
    public static func everythingOnSale() -> SKProductsRequest {
        SKProductsRequest(everythingOnSale: ())
    }

    override func perform(
        on queue: SKPaymentQueue
    ) async throws -> @Sendable (any SKRequestDelegate) -> Void {
        let response =
            if let productIdentifiers {
                try await queue.products(for: productIdentifiers)
            } else {
                SKProductsResponse(
                    products: try await queue.productsOnSale(),
                    invalidProductIdentifiers: []
                )
            }
        return { delegate in
            let delegate = delegate as? any SKProductsRequestDelegate
            delegate?.productsRequest(self, didReceive: response)
        }
    }
}

/// Receives the products.
public protocol SKProductsRequestDelegate: SKRequestDelegate {
    /// The catalog has answered. ``SKRequestDelegate/requestDidFinish(_:)`` follows.
    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse)
}

/// ``SKProductsRequest`` without its prefix.
public typealias ProductsRequest = SKProductsRequest
