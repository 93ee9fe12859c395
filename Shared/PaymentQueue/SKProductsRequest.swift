/// Asks the catalog for products by their identifiers (spec rule 99).
///
/// `@unchecked`: the compiler wants the promise of ``SKRequest`` said again; what is added to it here
/// never changes.
public final class SKProductsRequest: SKRequest, @unchecked Sendable {
    private let productIdentifiers: Set<String>

    /// Makes a request; ``SKRequest/start()`` sends it.
    public init(productIdentifiers: Set<String>) {
        self.productIdentifiers = productIdentifiers
        super.init()
    }

    override func perform(
        on queue: SKPaymentQueue
    ) async throws -> @Sendable (any SKRequestDelegate) -> Void {
        let response = try await queue.products(for: productIdentifiers)
        return { delegate in
            let delegate = delegate as? any SKProductsRequestDelegate
            delegate?.productsRequest(self, didReceive: response)
        }
    }
}

/// What the catalog says to a products request.
public struct SKProductsResponse: Sendable {
    /// The products that can be bought in the buyer's storefront.
    public let products: [SKProduct]
    /// The identifiers that cannot: unknown, off sale, or not sold there.
    public let invalidProductIdentifiers: [String]
}

/// Receives the products.
public protocol SKProductsRequestDelegate: SKRequestDelegate {
    /// The catalog has answered; ``SKRequestDelegate/requestDidFinish(_:)`` follows.
    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse)
}
