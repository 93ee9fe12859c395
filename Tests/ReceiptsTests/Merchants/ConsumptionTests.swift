import EventTypes
import Foundation
import Postgres
import ServiceKit
import TestSupport
import Testing

@testable import Receipts

/// Merchants' reports on purchases whose refund is requested, on a real PostgreSQL.
@Suite(.timeLimit(.minutes(2))) struct ConsumptionTests {
    private let chain: SigningChain

    init() throws {
        chain = try TestChain().signingChain()
    }

    private func report(sampled: Bool) throws -> ConsumptionReport {
        let body = """
            {"customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": \(sampled)}
            """
        return try ConsumptionReport(Data(body.utf8), .v2)
    }

    /// Whether the newest report says that the buyer was given a sample.
    private func isSampled(
        _ id: TransactionID,
        by handler: ConsumptionHandler
    ) async throws -> Bool {
        let document = try #require(try await handler.newest(of: id))
        let members = try JSONSerialization.jsonObject(with: Data(document)) as? [String: Any]
        return try #require(members?["sampleContentProvided"] as? Bool)
    }

    @Test func theNewestReportOnAPurchaseIsStoredForTheAppThatSoldIt() async throws {
        try await withTestDatabase(migrations: ReceiptsMigrations.all) { database in
            try await database.withClient(role: "counterfoil_receipts") { client in
                let purchase = purchased(1, type: .consumable)
                try await ReceiptsUnderTest(client, chain: chain)
                    .apply([try .of(.transactionPurchased, purchase)])
                let handler = ConsumptionHandler(client: client, now: { TestChain.now })
                let first = try report(sampled: false)
                for report in [first, try report(sampled: true)] {
                    try await handler.keep(report, of: purchase.id, in: purchase.bundleID, .v2)
                }
                #expect(try await isSampled(purchase.id, by: handler))

                let another = BundleID(unchecked: "com.example.another")
                await #expect(throws: ServerAPIError.transactionIDNotFound) {
                    try await handler.keep(first, of: purchase.id, in: another, .v2)
                }
                #expect(try await isSampled(purchase.id, by: handler), "It is as it was.")
            }
        }
    }
}
