import Testing

@testable import Rebuild

/// Two tables merged in the order of their keys.
@Suite struct TableComparisonTests {
    /// Compares rows page by page, as from two databases.
    private func compare(
        live: [(String, String)],
        rebuilt: [(String, String)],
        pageSize: Int = 2
    ) -> (differences: [RowDifference], rows: Int) {
        var comparison = TableComparison(columns: ["id", "amount"])
        var (left, right) = (live[...], rebuilt[...])
        func page(_ rows: inout ArraySlice<(String, String)>) -> [TableComparison.Row] {
            defer { rows = rows.dropFirst(pageSize) }
            return rows.prefix(pageSize).map { TableComparison.Row(key: $0.0, text: $0.1) }
        }
        while true {
            switch comparison.advance() {
            case .live: comparison.take(live: page(&left))
            case .rebuilt: comparison.take(rebuilt: page(&right))
            case .nothing: return (comparison.takeDifferences(), comparison.rowCount)
            }
        }
    }

    @Test func sameRowsDoNotDiffer() {
        let rows = (1...7).map { ("\($0)", "(\($0),99)") }
        let result = compare(live: rows, rebuilt: rows)
        #expect(result.differences.isEmpty && result.rows == 7)
    }

    @Test func aChangedColumnIsNamedWithBothValues() {
        let result = compare(
            live: [("1", "(1,99)"), ("2", "(2,1)")],
            rebuilt: [("1", "(1,99)"), ("2", "(2,)")]
        )
        #expect(
            result.differences == [
                RowDifference(
                    key: "2",
                    kind: .changed,
                    columns: [.init(name: "amount", live: "1", log: nil)]
                )
            ]
        )
    }

    @Test(arguments: 1...4)
    func rowsThatOneSideLacksAreReportedWhateverThePages(pageSize: Int) {
        let result = compare(
            live: [("1", "a"), ("3", "c"), ("5", "e"), ("6", "f")],
            rebuilt: [("1", "a"), ("2", "b"), ("3", "c"), ("5", "e"), ("7", "g"), ("8", "h")],
            pageSize: pageSize
        )
        #expect(result.differences.map(\.key) == ["2", "6", "7", "8"])
        #expect(
            result.differences.map(\.kind) == [.missing, .notInTheLog, .missing, .missing]
        )
        #expect(result.rows == 4)
    }

    @Test(arguments: [
        ("(1,,\"\",a)", ["1", nil, "", "a"]),
        ("(\"a,b\",\"say \"\"yes\"\"\",\"back\\\\slash\")", ["a,b", "say \"yes\"", "back\\slash"]),
        ("(\"{\"\"k\"\":[1,2]}\",t)", ["{\"k\":[1,2]}", "t"]), ("(,)", [nil, nil]),
    ])
    func aRowIsTakenApartAsPostgreSQLWroteIt(text: String, fields: [String?]) {
        #expect(RowText.fields(of: text) == fields)
    }

    @Test func theQueryReadsInTheOrderOfTheKeyAndEachSideByItsOwnExpression() {
        let table = RebuiltTable(
            "receipts",
            rows: "state = 'settled'",
            key: [.text("account_id"), .number("id")],
            columns: ["id", .init("payload", "sha256(payload)", rebuilt: "payload")]
        )
        let live = table.query(.live)
        #expect(live.contains("ROW(id, sha256(payload))::text"))
        #expect(table.query(.rebuilt).contains("ROW(id, payload)::text"))
        #expect(live.contains("FROM receipts WHERE state = 'settled'"))
        #expect(live.hasSuffix("ORDER BY account_id COLLATE \"C\", id"))
    }
}
