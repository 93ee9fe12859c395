import Testing

/// SQL stands in stores and migrations, where it can be found and reviewed together.
@Suite struct SQLPlacementTests {
    /// The libraries about databases; Rebuild composes queries from the tables that services name.
    private static let libraries = [
        "Shared/Postgres/", "Shared/Messaging/", "Shared/Ledger/", "Shared/Rebuild/",
    ]

    @Test func sqlStandsInStoresOnly() {
        var findings = Findings()
        // A table that is rebuilt names its columns, which are expressions of SQL.
        for file in Repository.swiftFiles
        where file.isProduct && !file.isNamed(["Store", "Tables"]) {
            guard !Self.libraries.contains(where: file.path.hasPrefix) else { continue }
            for line in Self.linesWithSQL(in: file) {
                findings.add(file, line, "move the SQL to the service's *Store.swift")
            }
        }
        findings.report()
    }

    @Test(arguments: [
        "let sql = \"SELECT id FROM products\"", "SELECT id,\n    version\nFROM products",
        "INSERT INTO products", "UPDATE products\nSET version = 2",
    ])
    func sqlIsFoundAlsoOverSeveralLines(text: String) {
        #expect(!Self.linesWithSQL(in: SourceFile(path: "Sample.swift", text: text)).isEmpty)
    }

    /// The lines in which a statement begins.
    private static func linesWithSQL(in file: SourceFile) -> [Int] {
        let words = ["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "FROM"]
        guard words.contains(where: { file.text.contains($0) }) else { return [] }
        // A statement ends with its text, so that what lies between two texts is not taken for one.
        let sql =
            /\b(?:SELECT\s(?:(?!""")(?s:.)){1,400}?\sFROM\s|INSERT\s+INTO\s+\w|UPDATE\s+\w+\s+SET\b|DELETE\s+FROM\s+\w|CREATE\s+(?:TABLE|INDEX)|FROM\s+UNNEST)/
            .wordBoundaryKind(.simple)
        let text = file.codeText
        return text.matches(of: sql).map { match in
            1 + text[..<match.range.lowerBound].count { $0 == "\n" }
        }
    }

    @Test func migrationsAreNumberedAndNamed() throws {
        var findings = Findings()
        for service in Repository.services {
            let names = try Repository.names(in: "Services/\(service)/Migrations")
            for (index, name) in names.enumerated() {
                let digits = String(index + 1)
                let number = String(repeating: "0", count: 4 - digits.count) + digits
                if !name.hasPrefix("m\(number)_") || !name.hasSuffix(".sql") {
                    findings.add(
                        "Services/\(service)/Migrations/\(name)",
                        "number \(index + 1) is named m\(number)_<words>.sql, without gaps"
                    )
                }
            }
        }
        findings.report()
    }

    /// A migration that no code names is never applied.
    @Test func everyMigrationIsApplied() throws {
        var findings = Findings()
        var count = 0
        let folders =
            Repository.services.map { "Services/\($0)" } + ["Shared/Ledger", "Shared/Messaging"]
        for folder in folders {
            let code = Repository.swiftFiles.filter { $0.path.hasPrefix("\(folder)/") }
            for name in try Repository.names(in: "\(folder)/Migrations") {
                count += 1
                let resource = "PackageResources.\(name.replacing(".", with: "_"))"
                if !code.contains(where: { $0.text.contains(resource) }) {
                    findings.add("\(folder)/Migrations/\(name)", "nothing names \(resource)")
                }
            }
        }
        findings.report()
        #expect(count > 20)
    }
}
