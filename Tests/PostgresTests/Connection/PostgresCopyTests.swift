import Postgres
import Testing
import TestSupport

/// COPY in binary form.
@Suite(.timeLimit(.minutes(10))) struct PostgresCopyTests {
    private static let table = PostgresMigration(
        name: "m0001_rows",
        sql: """
            CREATE SCHEMA archive;
            CREATE TABLE archive."Rows" (
                id bigint PRIMARY KEY, name text, tags text[], data bytea, at timestamptz
            )
            """
    )

    private func withTable(
        _ body: (PostgresClient) async throws -> Void
    ) async throws {
        try await withTestDatabase(migrations: [Self.table]) { database async throws in
            try await database.withClient(poolSize: 1) { try await body($0) }
        }
    }

    private static let columns = ["id", "name", "tags", "data", "at"]

    private static func row(_ n: Int64) -> [any PostgresEncodable] {
        [
            n, n % 3 == 0 ? nil : "row \(n)", ["a", nil, "\(n)"] as [String?],
            Array(repeating: UInt8(truncatingIfNeeded: n), count: Int(n % 50)),
            PostgresTimestamp(microsecondsSinceEpoch: n),
        ] as [any PostgresEncodable]
    }

    private static func count(_ connection: isolated PostgresConnection) throws -> Int64 {
        try connection.query("SELECT count(*) FROM archive.\"Rows\"")[0].decode(Int64.self)
    }

    @Test func manyRowsArriveAsTheyWere() async throws {
        try await withTable { client async throws in
            try await client.withTransaction { connection in
                let copied = try connection.copy(
                    into: "archive.Rows",
                    columns: Self.columns,
                    rows: (1...20_000 as ClosedRange<Int64>).lazy.map(Self.row)
                )
                #expect(copied == 20_000)
                let rows = try connection.query(
                    "SELECT id, name, tags, data, at FROM archive.\"Rows\" ORDER BY id"
                )
                for (row, n) in zip(rows, 1...)
                    as Zip2Sequence<PostgresRows, PartialRangeFrom<Int64>>
                {
                    let (id, name, tags, data, at) = try row.decode(
                        Int64.self,
                        String?.self,
                        [String?].self,
                        [UInt8].self,
                        PostgresTimestamp.self
                    )
                    guard
                        id == n, name == (n % 3 == 0 ? nil : "row \(n)"),
                        tags == ["a", nil, "\(n)"],
                        data.count == n % 50, at.microsecondsSinceEpoch == n
                    else {
                        Issue.record("row \(n) is not as it was")
                        return
                    }
                }
            }
        }
    }

    @Test func noRowsAreNoRows() async throws {
        try await withTable { client async throws in
            let count = try await client.withConnection { connection in
                try connection.copy(into: "archive.Rows", columns: ["id"], rows: [])
            }
            #expect(count == 0)
        }
    }

    @Test func aRowThatIsRefusedRefusesAll() async throws {
        try await withTable { client async throws in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withConnection { connection in
                    try connection.copy(
                        into: "archive.Rows",
                        columns: ["id"],
                        rows: [[Int64(1)], [Int64(2)], [Int64(1)]]
                    )
                }
            }
            #expect(error?.code == .uniqueViolation)
            let short = await #expect(throws: PostgresError.self) {
                try await client.withConnection { connection in
                    try connection.copy(
                        into: "archive.Rows",
                        columns: ["id", "name"],
                        rows: [[Int64(1), "a"], [Int64(2)]]
                    )
                }
            }
            #expect(short?.code == .invalidData)
            await #expect(throws: PostgresError.self) {
                try await client.withConnection { connection in
                    try connection.copy(
                        into: "archive.Rows",
                        columns: ["id"],
                        rows: [[Int32(1)]]
                    )
                }
            }
            #expect(try await client.withConnection { try Self.count($0) } == 0)
        }
    }

    @Test func aTableThatIsNotThereIsRefused() async throws {
        try await withTable { client async throws in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withConnection { connection in
                    try connection.copy(into: "nothing", columns: ["id"], rows: [[Int64(1)]])
                }
            }
            #expect(error?.sqlState == "42P01")
            #expect(try await client.withConnection { try Self.count($0) } == 0)
        }
    }
}
