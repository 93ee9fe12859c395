import EventTypes
import StoreAPI

extension SKPaymentQueue {
    /// The maximum number of pages to read.
    ///
    /// No catalog has more.
    private static let pagesMax = 1000

    /// Asks the catalog for all products on sale in the buyer's storefront (spec rule 98), in the
    /// order of their identifiers.
    ///
    /// StoreKit has no such request. Pages are requested one after the other. A product whose sale
    /// begins or ends in the meantime may be missing or included.
    ///
    /// - Throws: ``SKError``, or `CancellationError`.
    public func productsOnSale() async throws -> [SKProduct] {
        guard let transport else {
            throw SKError.notConfigured
        }
        let address =
            transport.configuration.addresses.catalog + Routes.products
            + "?storefront=\(storefrontCode(transport))&language=\(transport.configuration.language)"
        var products: [SKProduct] = []
        var previous: ProductID?
        do {
            for _ in 0..<Self.pagesMax {
                let after = previous.map { "&after=\($0)" } ?? ""
                let page: StoreAPI.ProductsResponse = try await transport.send(
                    .get(address + after)
                )
                products += try await transport.products(of: page)
                // Stop if the order goes backwards. Otherwise the loop could run forever.
                guard let next = page.next, previous.map({ $0 < next }) ?? true else { break }
                previous = next
            }
        } catch let failure as StoreFailure {
            throw failure.error
        }
        return products
    }
}

extension StoreTransport {
    /// Returns the products of the catalog's answer, with the content that `fulfillment` hosts for
    /// them.
    ///
    /// - Throws: ``StoreFailure``, or `CancellationError`.
    func products(of response: StoreAPI.ProductsResponse) async throws -> [SKProduct] {
        guard !response.products.isEmpty else { return [] }
        let ids = response.products.map(\.id.rawValue).joined(separator: ",")
        let offered: OfferedContentsResponse = try await send(
            .get("\(configuration.addresses.fulfillment)\(Routes.contents)?ids=\(ids)")
        )
        let contents = Dictionary(
            offered.contents.map { ($0.productID, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        return response.products.map {
            SKProduct($0, storefront: response.storefront.rawValue, content: contents[$0.id])
        }
    }
}
