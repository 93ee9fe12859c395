import EventTypes
import Messaging
import Rebuild
import TestSupport
import Testing

@testable import Receipts

@Suite struct ReceiptsTablesTests {
    /// The columns that a rebuild leaves out, with the reason.
    private static let leftOut: [String: String] = [
        "signing_chains":
            "A rebuild signs nothing; a transaction names the leaf of its chain.",
        "app_transactions.first_seen_at":
            "The first request of an app is in no event.",
        "notification_endpoints":
            "Administrators set them.",
        "notifications":
            "What was sent to merchants is in no event.",
        "notification_attempts":
            "What was sent to merchants is in no event.",
        "extension_summaries":
            "What was sent to merchants is in no event.",
        "notification_marks":
            "What was sent to merchants is in no event.",
        "subscriptions.notified_at":
            "What was sent to merchants is in no event.",
        "consumptions":
            "Merchants' servers reported them.",
    ]

    /// Otherwise a proof would pass over a new table or column unnoticed.
    @Test func everyColumnIsComparedOrLeftOutForAReason() async throws {
        let compared = Dictionary(
            uniqueKeysWithValues: ReceiptsTables.all.map { ($0.name, Set($0.columns.map(\.name))) }
        )
        let problems = try await TestDatabase.unexplainedColumns(
            of: ReceiptsMigrations.all,
            without: MessagingMigrations.all(role: ServiceName.receipts.databaseRole),
            compared: compared,
            leftOut: Self.leftOut
        )
        #expect(problems == [])
    }
}
