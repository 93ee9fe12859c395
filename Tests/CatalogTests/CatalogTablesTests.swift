import EventTypes
import Messaging
import Rebuild
import TestSupport
import Testing

@testable import Catalog

@Suite struct CatalogTablesTests {
    /// The columns that a rebuild leaves out, with the reason.
    private static let leftOut: [String: String] = [:]

    /// Otherwise a proof would pass over a new table or column unnoticed.
    @Test func everyColumnIsComparedOrLeftOutForAReason() async throws {
        let compared = Dictionary(
            uniqueKeysWithValues: CatalogTables.all.map { ($0.name, Set($0.columns.map(\.name))) }
        )
        let problems = try await TestDatabase.unexplainedColumns(
            of: CatalogMigrations.all,
            without: MessagingMigrations.all(role: ServiceName.catalog.databaseRole),
            compared: compared,
            leftOut: Self.leftOut
        )
        #expect(problems == [])
    }
}
