import Testing

/// SQL stands in stores and migrations, where it can be found and reviewed together.
@Suite struct SQLPlacementTests {
    private static let libraries = ["Shared/Postgres/", "Shared/Messaging/", "Shared/Ledger/"]

    @Test func sqlStandsInStoresOnly() {
        let sql =
            /\b(SELECT .+ FROM|INSERT INTO \w|UPDATE \w+ SET|DELETE FROM \w|CREATE (TABLE|INDEX)|FROM UNNEST)/
        var findings = Findings()
        // A table that is rebuilt names its columns, which are expressions of SQL.
        for file in Repository.swiftFiles
        where file.isProduct && !file.isNamed(["Store", "Tables"]) {
            guard !Self.libraries.contains(where: file.path.hasPrefix) else { continue }
            for (line, text) in file.code where text.contains(sql) {
                findings.add(file, line, "move the SQL to the service's *Store.swift")
            }
        }
        findings.report()
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
