/// Asks the catalog for products: by their identifiers (spec rule 99), or for everything that is on
/// sale (rule 98).
///
/// `@unchecked`: the compiler wants the promise of ``SKRequest`` said again; what is added to it here
/// never changes.
public final class SKProductsRequest: SKRequest, @unchecked Sendable {
    /// `nil` asks for everything.
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

    /// Makes a request for every product that is on sale in the buyer's storefront;
    /// ``SKRequest/start()`` sends it.
    ///
    /// StoreKit has no such request: an app there brings its identifiers along, or has a server that
    /// knows them.
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
    /// The catalog has answered; ``SKRequestDelegate/requestDidFinish(_:)`` follows.
    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse)
}

/// ``SKProductsRequest`` without its prefix.
public typealias ProductsRequest = SKProductsRequest
