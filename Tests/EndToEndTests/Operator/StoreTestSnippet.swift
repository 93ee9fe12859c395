import Foundation
import PaymentQueue
import StoreTest
import Testing

/// The code of docs/testing.md, which has to compile.
enum StoreTestSnippet {
    /// Begins a session on the store of `make run`.
    static func session() async throws -> StoreTestSession {
        let keys = try StoreTestKeys(directory: ".dev/keys", bundleID: "com.example.app")
        let session = StoreTestSession(keys: keys)
        let file = try Data(contentsOf: URL(fileURLWithPath: "Store.storekit"))
        try await session.apply(StoreKitSettings(file))
        SKPaymentQueue.configure(session.configuration)
        return session
    }

    /// The test of the document, which an end-to-end test plays.
    static func anUnpaidPeriodIsPaidLater(_ session: StoreTestSession) async throws {
        let club = try await Product.products(for: ["com.example.club"])[0]
        guard case .success(.verified(let first)) = try await club.purchase() else {
            throw StoreTestError.notSubscribed(product: club.id)
        }
        try await first.finish()

        try await session.setShouldEnterBillingRetryOnRenewal(true)
        try await session.advance(by: .seconds(32 * 86_400))
        #expect(try await session.renewalState(of: club.id) == .inBillingRetryPeriod)

        try await session.resolveBillingIssue(of: club.id)
        for await case .verified(let renewal) in Transaction.updates where renewal.id != first.id {
            #expect(renewal.originalID == first.id)
            try await renewal.finish()
            break
        }
    }
}
