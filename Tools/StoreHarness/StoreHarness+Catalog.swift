public import EventTypes
import StoreAPI

extension StoreHarness {
    /// Waits until `payments` has heard of a product: a payment by a method that does not exist is
    /// then refused for the method.
    ///
    /// - Parameters:
    ///   - product: The product.
    ///   - limit: How long to wait.
    /// - Throws: ``HarnessError`` when the time is up.
    public func waitUntilSellable(
        _ product: ProductID,
        within limit: Duration = .seconds(60)
    ) async throws {
        let client = try client(account: "catalog-probe")
        var request = PaymentRequest.sample(product)
        request.paymentMethod = "no_such_method"
        try await eventually(within: limit, "payments to know \(product)") { () -> Bool? in
            let answer = try await client.add(request)
            guard try !answer.asksToTryAgain, let problem = answer.problem else { return nil }
            return problem.code != "product_unknown" ? true : nil
        }
    }

    /// Imports the sample catalog, and waits until it can be bought from.
    public func importSampleCatalog() async throws {
        _ = try await administrator.importCatalog(SampleCatalog.document()).value
        for product in [SampleCatalog.coins, SampleCatalog.pro, SampleCatalog.hint] {
            try await waitUntilSellable(product)
        }
    }

    /// Puts an auto-renewable subscription into the catalog, and waits until `payments` knows it.
    public func addSubscription() async throws {
        _ = try await administrator.put(SampleCatalog.subscription(), as: SampleCatalog.club)
        try await waitUntilSellable(SampleCatalog.club)
    }
}
