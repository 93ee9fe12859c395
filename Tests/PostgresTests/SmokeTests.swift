import Postgres
import TestSupport
import Testing

@Test func aStatementReturnsItsRow() async throws {
    try await withTestDatabase { database in
        try await database.withClient { client in
            let row = try await client.withTransaction { connection in
                let a: Int64 = 41
                let rows = try connection.query("SELECT \(a) + 1, \("x"), \(nil as String?)")
                return try rows[0].decode(Int64.self, String.self, String?.self)
            }
            #expect(row.0 == 42)
            #expect(row.1 == "x")
            #expect(row.2 == nil)
        }
    }
}
