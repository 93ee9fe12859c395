import EventTypes
import StoreAPI
import StoreHarness

extension ChaosBuyers {
    /// The payment methods that the processor knows.
    var methods: [SandboxPaymentMethod] {
        SandboxPaymentMethod.allCases.filter(isKnown)
    }

    /// Whether the processor knows a payment method.
    func isKnown(_ method: SandboxPaymentMethod) -> Bool {
        store.stripe == nil || StoreStripe.card(for: method) != nil
    }

    /// Returns a payment for one of the products that are not subscriptions.
    func request(using random: inout SeededGenerator) -> PaymentRequest {
        let products = [
            SampleCatalog.coins, SampleCatalog.coins, SampleCatalog.hint, SampleCatalog.pro,
            SampleCatalog.gift,
        ]
        let product = products[Int.random(in: products.indices, using: &random)]
        // Half of the payments succeed at once; the other half uses a random method.
        let methods = methods
        let method =
            Bool.random(using: &random)
            ? .success : methods[Int.random(in: methods.indices, using: &random)]
        let quantity = product == SampleCatalog.coins ? Int.random(in: 1...3, using: &random) : 1
        return .sample(product, by: method, quantity: quantity)
    }

    /// Saves a card of each kind for every account, if the store charges at Stripe.
    ///
    /// - Throws: An error if one cannot be saved.
    func saveCards() async throws {
        guard let stripe = store.stripe else { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<accounts {
                group.addTask {
                    let client = try self.client(index, self.store.urls)
                    for method in self.methods { _ = try await stripe.saved(method, of: client) }
                }
            }
            try await group.waitForAll()
        }
    }
}
