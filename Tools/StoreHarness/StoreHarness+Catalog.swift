public import EventTypes
import StoreAPI

extension StoreHarness {
    /// Waits until `payments` knows a product.
    ///
    /// A payment with an invalid method is then refused because of the method.
    ///
    /// - Parameters:
    ///   - product: The product.
    ///   - limit: The time limit.
    /// - Throws: ``HarnessError`` after the time limit.
    public func waitUntilSellable(
        _ product: ProductID,
        within limit: Duration = .seconds(60)
    ) async throws {
        let client = try client(account: "catalog-probe")
        var request = PaymentRequest.sample(product)
        request.paymentMethod = "no_such_method"
        // A new group takes a second to form. Meanwhile few questions leave the processors to the services.
        try await eventually(
            within: limit,
            every: .milliseconds(50),
            "payments to know \(product)"
        ) { () -> Bool? in
            let answer = try await client.add(request)
            guard try !answer.asksToTryAgain, let problem = answer.problem else { return nil }
            return problem.code != "product_unknown" ? true : nil
        }
    }

    /// Imports the sample catalog, and waits until its products can be bought.
    public func importSampleCatalog() async throws {
        _ = try await administrator.importCatalog(SampleCatalog.document()).value
        for product in [SampleCatalog.coins, SampleCatalog.pro, SampleCatalog.hint] {
            try await waitUntilSellable(product)
        }
    }

    /// Adds an auto-renewable subscription to the catalog, and waits until `payments` knows it.
    public func addSubscription(_ product: ProductID = SampleCatalog.club) async throws {
        _ = try await administrator.put(SampleCatalog.subscription(product), as: product)
        try await waitUntilSellable(product)
    }
}
