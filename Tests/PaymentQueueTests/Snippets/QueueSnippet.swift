import Foundation
import PaymentQueue

/// The Swift code of `PaymentQueue.md`, compiled; `SnippetTests` in TidyTests compares the two.
private struct QueueSnippet {
    struct Server {
        func accountToken(insteadOf refused: String?) async throws -> String { "" }
    }

    let myServer = Server()
    let buyer = UUID()

    func deliver(_ transaction: Transaction) {}
    func unlock(_ transaction: Transaction) {}
    func show(_ error: any Error) {}

    func unlock(until end: Date?) {}

    func configure(observer: any SKPaymentTransactionObserver) {
        SKPaymentQueue.configure(
            StoreConfiguration(
                addresses: .init(origin: "https://store.example.com"),
                storefront: "USA",
                language: "en-US",
                paymentMethod: { _ in "sandbox_success" },
                accountToken: { refused in try await myServer.accountToken(insteadOf: refused) }
            )
        )
        SKPaymentQueue.default().add(observer)
    }

    func buy() async throws {
        let products = try await Product.products(for: ["com.example.coins.100"])
        switch try await products[0].purchase(options: [.quantity(2), .appAccountToken(buyer)]) {
        case .success(.verified(let transaction)):
            deliver(transaction)
            try await transaction.finish()
        case .success(.unverified(_, let error)): show(error)
        case .pending, .userCancelled: break
        }
        // Purchases that are made here are among them, too: see StepLog.
        for await result in Transaction.updates { deliver(try result.payloadValue) }
        for try await result in Transaction.currentEntitlements { unlock(try result.payloadValue) }
    }

    func subscribe(products: [Product]) async throws {
        guard let club = products[0].subscription, let status = try await club.status.first else {
            return
        }
        if status.state == .subscribed || status.state == .inGracePeriod {
            unlock(until: try status.transaction.payloadValue.expirationDate)
        }
        try await status.cancel()  // it ends with the paid period; resume() takes that back
    }
}
