import PaymentQueue
import ReceiptValidation

/// The Swift code of README.md, compiled; `SnippetTests` in TidyTests compares the two.
private struct ReadmeSnippet {
    struct Server {
        func accountToken(insteadOf refused: String?) async throws -> String { "" }
    }

    let myServer = Server()
    let rootInDER: [UInt8] = []

    func deliver(_ transaction: Transaction) {}
    func report(_ error: any Error) {}

    func configureAndBuy() async throws {
        var store = StoreConfiguration(
            addresses: .init(origin: "https://store.example.com"),
            storefront: "USA",
            language: "en-US",
            paymentMethod: { _ in "sandbox_success" },
            accountToken: { refused in try await myServer.accountToken(insteadOf: refused) }
        )
        store.receiptTrust = ReceiptTrust(
            roots: [rootInDER],
            bundleID: "com.example.app",
            environment: .sandbox
        )
        SKPaymentQueue.configure(store)
        let products = try await Product.products(for: ["com.example.coins.100"])
        switch try await products[0].purchase() {
        case .success(.verified(let transaction)):
            deliver(transaction)
            try await transaction.finish()
        case .success(.unverified(_, let error)): report(error)
        case .pending, .userCancelled: break
        }
    }
}
