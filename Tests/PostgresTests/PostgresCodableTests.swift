import Foundation
import Postgres
import TestSupport
import Testing

/// Every type is sent to the server and comes back unchanged, alone, as NULL, and in arrays.
@Suite(.timeLimit(.minutes(10))) struct PostgresCodableTests {
    /// Sends values to a database and reads them back: alone, as NULL, and as arrays with and
    /// without NULLs.
    ///
    /// The server reports the types it has received.
    private func expectRoundTrip<T: PostgresEncodable & PostgresDecodable & Equatable>(
        _ values: [T],
        type: String
    ) async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                try await client.withConnection { connection in
                    for value in values {
                        let row = try connection.query(
                            "SELECT \(value), pg_typeof(\(value))::text, \(nil as T?)"
                        )[0]
                        let (back, name, absent) = try row.decode(T.self, String.self, T?.self)
                        #expect(back == value)
                        #expect(name == type)
                        #expect(absent == nil)
                    }
                    let some: [T?] = values.flatMap { [$0, nil] }
                    let row = try connection.query(
                        "SELECT \(values), \(some), \([] as [T]), pg_typeof(\(some))::text"
                    )[0]
                    let (all, withGaps, none, name) = try row.decode(
                        [T].self,
                        [T?].self,
                        [T].self,
                        String.self
                    )
                    #expect(all == values)
                    #expect(withGaps == some)
                    #expect(none.isEmpty)
                    #expect(name == type + "[]")
                    let unnested = try connection.query(
                        "SELECT v FROM unnest(\(some)) WITH ORDINALITY AS t (v, n) ORDER BY n"
                    )
                    #expect(try unnested.map { try $0.decode(T?.self) } == some)
                }
            }
        }
    }

    @Test func integersOfEveryWidth() async throws {
        try await expectRoundTrip([Int16.min, -1, 0, 1, .max], type: "smallint")
        try await expectRoundTrip([Int32.min, -1, 0, 1, .max], type: "integer")
        try await expectRoundTrip([Int64.min, -1, 0, 1, .max], type: "bigint")
        try await expectRoundTrip([Int.min, -1, 0, 1, .max], type: "bigint")
        try await expectRoundTrip([UInt64.min, 1, UInt64.max], type: "xid8")
    }

    @Test func truthAndRealNumbers() async throws {
        try await expectRoundTrip([true, false], type: "boolean")
        try await expectRoundTrip(
            [
                0, -0.1, .pi, .infinity, -.infinity, .leastNonzeroMagnitude,
                .greatestFiniteMagnitude,
            ] as [Double],
            type: "double precision"
        )
    }

    @Test func textsOfEveryKind() async throws {
        try await expectRoundTrip(
            [
                "", "plain", "quote ' \" \\ $1 {a,b} NULL", "日本語 👩‍👩‍👧‍👦 e\u{301}", "\n\t\r\u{1}",
                String(repeating: "long ", count: 100_000),
            ],
            type: "text"
        )
    }

    @Test func bytesAndArraysOfBytes() async throws {
        try await expectRoundTrip(
            [[], [0], Array(0...255), Array(repeating: 7, count: 300_000)] as [[UInt8]],
            type: "bytea"
        )
    }

    @Test func identifiersAndDocuments() async throws {
        let uuids = [
            UUID(), UUID(uuidString: "00000000-0000-0000-0000-000000000000"),
            UUID(uuidString: "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"),
        ].compactMap(\.self)
        try await expectRoundTrip(uuids, type: "uuid")
        try await expectRoundTrip(
            [
                SIMD16<UInt8>(repeating: 0),
                SIMD16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255),
            ],
            type: "uuid"
        )
        // They are sent as text: `json` keeps the bytes as they were written.
        try await expectRoundTrip(
            ["{\"b\" : 1, \"a\":[null,\"é\"]}", "null", "17"].map {
                PostgresJSON(bytes: Array($0.utf8))
            },
            type: "json"
        )
    }

    @Test func momentsToTheMicrosecond() async throws {
        try await expectRoundTrip(
            [
                0, 1, -1, 946_684_800_000_000, 1_700_000_000_123_456,
                // The first and the last day of PostgreSQL that fit into 64 bits of microseconds.
                -210_866_803_200_000_000, 9_223_371_331_199_999_999,
            ].map { PostgresTimestamp(microsecondsSinceEpoch: $0) },
            type: "timestamp with time zone"
        )
    }

    @Test func oneByteIsItsOwnType() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                try await client.withConnection { connection in
                    let byte = UInt8(ascii: "r")
                    let row = try connection.query("SELECT \(byte), \(byte) = 'r'::\"char\"")[0]
                    #expect(try row.decode(UInt8.self, Bool.self) == (byte, true))
                }
            }
        }
    }

    @Test func serverSideTypesAreReadAsTheNextWiderOne() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                try await client.withConnection { connection in
                    try connection.execute("CREATE TYPE mood AS ENUM ('glad', 'sad')")
                    let row = try connection.query(
                        """
                        SELECT 7::smallint, 8::integer, 9::oid, 10::bigint, 1.5::real,
                            'x'::varchar(5), 'y'::char(3), 'n'::name, 'glad'::mood,
                            '{"a":1}'::jsonb, 'literal'
                        """
                    )[0]
                    let (a, b, c, d, e, f, g, h, i, j, k) = try row.decode(
                        Int32.self,
                        Int.self,
                        UInt64.self,
                        UInt64.self,
                        Double.self,
                        String.self,
                        String.self,
                        String.self,
                        String.self,
                        PostgresJSON.self,
                        String.self
                    )
                    #expect([a, Int32(b)] == [7, 8])
                    #expect([c, d] == [9, 10])
                    #expect(e == 1.5)
                    #expect([f, g, h, i, k] == ["x", "y  ", "n", "glad", "literal"])
                    #expect(String(decoding: j.bytes, as: UTF8.self) == "{\"a\": 1}")
                }
            }
        }
    }

    @Test func whatDoesNotFitIsRefusedByNameOfTheColumn() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                try await client.withConnection { connection in
                    let null = try refusal(connection.query("SELECT NULL::bigint AS amount")) {
                        _ = try $0.decode(Int64.self)
                    }
                    #expect(null.contains("column \"amount\": NULL"))
                    let wide = try refusal(connection.query("SELECT 5::bigint AS n")) {
                        _ = try $0.decode(Int32.self)
                    }
                    #expect(wide.contains("bigint cannot be read as Int32"))
                    let numeric = try refusal(connection.query("SELECT 5::numeric AS n")) {
                        _ = try $0.decode(Int64.self)
                    }
                    #expect(numeric.contains("numeric cannot be read as Int64"))
                    let gap = try refusal(connection.query("SELECT ARRAY[1, NULL]::bigint[]")) {
                        _ = try $0.decode([Int64].self)
                    }
                    #expect(gap.contains("NULL"))
                    _ = try refusal(connection.query("SELECT ARRAY[[1, 2], [3, 4]]")) {
                        _ = try $0.decode([Int32].self)
                    }
                    for moment in ["infinity", "-infinity"] {
                        let rows = try connection.query("SELECT \(moment)::text::timestamptz")
                        _ = try refusal(rows) { _ = try $0.decode(PostgresTimestamp.self) }
                    }
                    _ = try refusal(connection.query("SELECT (-1)::bigint")) {
                        _ = try $0.decode(UInt64.self)
                    }
                    _ = try refusal(connection.query("SELECT 1, 2")) {
                        _ = try $0.decode(Int32.self)
                    }
                    _ = try refusal(connection.query("SELECT 1")) {
                        _ = try $0.decode(Int32.self, Int32.self)
                    }
                }
            }
        }
    }

    @Test func aPaddedArrayIsFilledUpWithNULLs() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                try await client.withConnection { connection in
                    let none: [Int64?] = [nil, nil, nil]
                    let one: [String?] = [nil, "b", nil]
                    let last: [Int64?] = [nil, nil, 4]
                    let rows = try connection.query(
                        """
                        SELECT * FROM unnest(
                            \([1, 2, 3] as [Int64]), \(padded: none), \(padded: one),
                            \(padded: last))
                        """
                    )
                    let read = try rows.map {
                        try $0.decode(Int64.self, Int64?.self, String?.self, Int64?.self)
                    }
                    #expect(read.map { $0.0 } == [1, 2, 3])
                    #expect(read.map { $0.1 } == none)
                    #expect(read.map { $0.2 } == one)
                    #expect(read.map { $0.3 } == last)
                    let sent = try connection.query(
                        """
                        SELECT ARRAY[cardinality(\(padded: none)), cardinality(\(padded: one)),
                            cardinality(\(padded: last))]
                        """
                    )[0].decode([Int32].self)
                    #expect(sent == [0, 2, 3])
                }
            }
        }
    }

    @Test func aColumnWithOneValueIsSentOnce() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                try await client.withConnection { connection in
                    let same = ["a", "a"]
                    let different: [Int64] = [1, 2]
                    let mixed: [Int64?] = [nil, 3]
                    let none: [Int64?] = [nil, nil]
                    let rows = try connection.query(
                        """
                        SELECT coalesce(a, \(ifEqual: same)), coalesce(b, \(ifEqual: different)),
                            coalesce(c, \(ifEqual: mixed)), coalesce(d, \(ifEqual: none))
                        FROM unnest(
                            \([1, 2] as [Int64]), \(unlessEqual: same), \(unlessEqual: different),
                            \(unlessEqual: mixed), \(unlessEqual: none)) AS u (n, a, b, c, d)
                        """
                    )
                    let read = try rows.map {
                        try $0.decode(String.self, Int64.self, Int64?.self, Int64?.self)
                    }
                    #expect(read.map { $0.0 } == same)
                    #expect(read.map { $0.1 } == different)
                    #expect(read.map { $0.2 } == mixed)
                    #expect(read.map { $0.3 } == none)
                    let sent = try connection.query(
                        """
                        SELECT ARRAY[
                            cardinality(\(unlessEqual: same)), cardinality(\(unlessEqual: different)),
                            cardinality(\(unlessEqual: mixed)), cardinality(\(unlessEqual: none))]
                        """
                    )[0].decode([Int32].self)
                    #expect(sent == [0, 2, 2, 0])
                }
            }
        }
    }

    @Test func columnsAreReadOneAfterAnother() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                try await client.withConnection { connection in
                    let rows = try connection.query(
                        "SELECT 1::bigint AS id, NULL::text AS name, 2::bigint AS other"
                    )
                    var columns = try rows[0].columns(3)
                    let id = try columns.next(Int64.self)
                    let name = try columns.next(String?.self)
                    let other = try columns.next(Int64?.self)
                    #expect(id == 1)
                    #expect(name == nil)
                    #expect(other == 2)
                    let missing = try refusal(rows) { _ = try $0.columns(2) }
                    #expect(missing.contains("2 columns are asked for, the row has 3"))
                    let null = try refusal(rows) { row in
                        var columns = try row.columns(3)
                        _ = try columns.next(Int64.self)
                        _ = try columns.next(String.self)
                    }
                    #expect(null.contains("column \"name\""))
                }
            }
        }
    }

    /// The error of decoding the first row, which must fail.
    private func refusal(
        _ rows: PostgresRows,
        _ read: (PostgresRow) throws -> Void
    ) throws -> String {
        let error = #expect(throws: PostgresError.self) { try read(rows[0]) }
        #expect(error?.code == .decoding)
        #expect(error?.isRetriable == false)
        return error.map { "\($0)" } ?? ""
    }
}
