import EventTypes
import PaymentQueue
import StoreTest

/// The code of docs/testing.md, which has to compile.
enum StoreTestSnippet {
    static func test(
        sign: @escaping @Sendable (AccountID) async throws -> String,
        signForAdministrator: @escaping @Sendable () async throws -> String
    ) async throws {
        let session = StoreTestSession(
            addresses: .init(origin: "https://sandbox.example.com"),
            bundleID: BundleID(unchecked: "com.example.app"),
            accountToken: { try await sign($0) },
            administratorToken: { try await signForAdministrator() }
        )
        // The app under test buys with session.account.
        try await session.failNextCharge(.insufficientFunds)
        try await session.setShouldEnterBillingRetryOnRenewal(true)
        try await session.advance(by: .seconds(31 * 86_400))
        try await session.resolveBillingIssue(of: "com.example.gold")
    }
}
