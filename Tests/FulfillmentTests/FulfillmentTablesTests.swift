import EventTypes
import Messaging
import Rebuild
import TestSupport
import Testing

@testable import Fulfillment

@Suite struct FulfillmentTablesTests {
    /// The columns that a rebuild leaves out, with the reason.
    private static let leftOut: [String: String] = [
        "hosted_contents":
            "Administrators upload them.",
        "content_uploads":
            "Administrators upload them.",
        "deliveries.attempts next_attempt_at last_attempt_at":
            "How often a webhook was sent is in no event.",
    ]

    /// Otherwise a proof would pass over a new table or column unnoticed.
    @Test func everyColumnIsComparedOrLeftOutForAReason() async throws {
        let compared = Dictionary(
            uniqueKeysWithValues: FulfillmentTables.all.map {
                ($0.name, Set($0.columns.map(\.name)))
            }
        )
        let problems = try await TestDatabase.unexplainedColumns(
            of: FulfillmentMigrations.all,
            without: MessagingMigrations.all(role: ServiceName.fulfillment.databaseRole),
            compared: compared,
            leftOut: Self.leftOut
        )
        #expect(problems == [])
    }
}
