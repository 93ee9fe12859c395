import EventTypes
import Foundation
import Postgres
import ServiceKit
import TestSupport
import Testing

@testable import Receipts

/// Merchants' reports on purchases whose refund is requested, on a real PostgreSQL.
@Suite(.timeLimit(.minutes(10))) struct ConsumptionTests {
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

    /// Keeps a report that comes some hours after the present.
    private func keep(
        sampled: Bool,
        hours: Int64,
        of purchase: Transaction,
        _ client: PostgresClient
    ) async throws {
        let time = TestChain.now.advanced(by: .seconds(hours * 3600))
        let handler = ConsumptionHandler(client: client, now: { time })
        let said = try report(sampled: sampled)
        try await handler.keep(said, of: purchase.id, in: purchase.bundleID, .v2)
    }

    /// Stores a buyer's request for a refund.
    private func ask(
        _ number: Int,
        hours: Int64,
        of purchase: Transaction,
        _ client: PostgresClient
    ) async throws {
        let request = RequestedRefund(
            number: number,
            of: purchase,
            because: .unsatisfied,
            at: TestChain.now.advanced(by: .seconds(hours * 3600))
        )
        _ = try await client.withTransaction { try RequestedRefundStore.save([request], on: $0) }
    }

    @Test func aLateReportStaysLateWhenTheBuyerAsksAgain() async throws {
        try await withTestDatabase(migrations: ReceiptsMigrations.all) { database in
            try await database.withClient(role: "counterfoil_receipts") { client in
                let purchase = purchased(1, type: .consumable)
                try await ReceiptsUnderTest(client, chain: chain)
                    .apply([try .of(.transactionPurchased, purchase)])
                try await ask(1, hours: 0, of: purchase, client)
                try await keep(sampled: true, hours: 13, of: purchase, client)
                try await ask(2, hours: 14, of: purchase, client)
                let handler = ConsumptionHandler(client: client, now: { TestChain.now })
                let answer = try #require(try await handler.newestWithTimes(of: purchase.id))
                #expect(answer.isLate && answer.requestedAt == TestChain.now)
            }
        }
    }

    @Test func ofTwoReportsAtOnceTheOneInTimeStays() async throws {
        try await withTestDatabase(migrations: ReceiptsMigrations.all) { database in
            try await database.withClient(role: "counterfoil_receipts") { client in
                let receipts = ReceiptsUnderTest(client, chain: chain)
                let handler = ConsumptionHandler(client: client, now: { TestChain.now })
                for number in Int64(1)...8 {
                    let purchase = purchased(number, type: .consumable)
                    try await receipts.apply([try .of(.transactionPurchased, purchase)])
                    try await ask(1, hours: 0, of: purchase, client)
                    async let inTime: Void = keep(sampled: true, hours: 1, of: purchase, client)
                    async let late: Void = keep(sampled: false, hours: 13, of: purchase, client)
                    _ = try await (inTime, late)
                    #expect(try await isSampled(purchase.id, by: handler))
                }
            }
        }
    }
}
