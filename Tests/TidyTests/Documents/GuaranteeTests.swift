import Testing

/// The guarantees of ARCHITECTURE.md name code and tests that exist.
@Suite struct GuaranteeTests {
    /// A row of the tables: a promise, what keeps it, and the tests that prove it.
    private struct Row {
        let line: Int
        let keeper: Substring
        let tests: Substring
    }

    /// The names between backticks.
    private static func names(in column: Substring) -> [String] {
        column.matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    private static func rows(of document: SourceFile) -> [Row] {
        var isInTable = false
        var rows: [Row] = []
        for (line, text) in zip(1..., document.lines) {
            if text.hasPrefix("## ") { isInTable = text == "## Guarantees" }
            let columns = text.split(separator: "|")
            guard isInTable, text.hasPrefix("| "), !text.hasPrefix("| ---"),
                !text.hasPrefix("| promise |"), columns.count == 3
            else { continue }
            rows.append(Row(line: line, keeper: columns[1], tests: columns[2]))
        }
        return rows
    }

    /// The last column names the tests that prove a promise.
    @Test func everyTestThatAGuaranteeNamesExists() throws {
        let document = try Repository.file("ARCHITECTURE.md")
        let references = try TestReferences()
        var findings = Findings()
        let rows = Self.rows(of: document)
        for row in rows {
            let names = Self.names(in: row.tests)
            for name in names {
                if let problem = references.problem(with: name) {
                    findings.add(document, row.line, problem)
                }
            }
            if names.isEmpty {
                findings.add(document, row.line, "name the test that proves the promise")
            }
        }
        findings.report()
        #expect(rows.count > 50)
    }

    /// The middle column names what keeps a promise: code, tables or folders.
    @Test func whatKeepsAGuaranteeExists() throws {
        let document = try Repository.file("ARCHITECTURE.md")
        let names = KeeperNames.all
        var findings = Findings()
        for row in Self.rows(of: document) {
            for name in Self.names(in: row.keeper) where !names.hold(name) {
                findings.add(document, row.line, "there is no \(name)")
            }
        }
        findings.report()
    }

    @Test(arguments: [
        "NoType", "SettlementPlan.noMember", "NoType.passOn", "no_such_table", "deploy/nothing",
        "queue_transactions.no_such_column",
    ])
    func aKeeperThatIsGoneIsFound(name: String) {
        #expect(!KeeperNames.all.hold(name))
    }

    @Test(arguments: [
        "noSuchTest", "make nothing", "EndToEndTests.EndToEnd/Nothing", "NoTests.EndToEnd",
        "OwnTests/nothing",
    ])
    func aTestThatIsGoneIsFound(name: String) throws {
        #expect(try TestReferences().problem(with: name) != nil)
    }

    @Test(arguments: [
        ("paid", false), ("Buyers/paid", false), ("Sellers/paid", true), ("sold", true),
        ("ShopTests.Buyers", true), ("ShopTests.Shop/Buyers", true), ("Buyers", false),
        ("Buyers/sold", false), ("Sellers/helper", false), ("ShopTests.Buyers/paid", true),
        ("Shop/Buyers/paid", true), ("BankTests.Buyers", true),
    ])
    func aNameThatTwoTestsHaveIsFound(name: String, isOne: Bool) throws {
        let shop = """
            extension Shop {
                @Suite(.serialized) struct Buyers {
                    @Test func paid() {}
                }
            }
            @Suite final class Sellers {
                @Test(arguments: [
                    1, 2,
                ])
                private func paid(_ number: Int) {}
                func helper() {}
                @Test @MainActor func sold() {}
            }
            """
        let bank = "@Suite struct Buyers {\n    @Test func paid() {}\n}"
        let tests = TestList([
            SourceFile(path: "Tests/ShopTests/Shop.swift", text: shop),
            SourceFile(path: "Tests/BankTests/Buyers.swift", text: bank),
        ])
        let references = TestReferences(
            tests: tests,
            makefile: SourceFile(path: "Makefile", text: "")
        )
        #expect((references.problem(with: name) == nil) == isOne)
    }
}

/// The names that can keep a promise.
private struct KeeperNames {
    /// Those of this repository, read once.
    static let all = KeeperNames()

    /// The product's files by the types that they declare or extend.
    private let files: [String: [SourceFile]]
    /// The words of the migrations: tables, columns, functions.
    private let words: Set<Substring>

    private init() {
        var files: [String: [SourceFile]] = ["Contracts": []]
        let product = Repository.swiftFiles.filter { !$0.path.hasPrefix("Tests/") }
        let kinds = ["struct", "class", "enum", "actor", "protocol", "extension", "typealias"]
        for file in product {
            let declarations = file.code.filter { $0.text.holdsAny(of: kinds) }.flatMap { _, line in
                line.matches(
                    of: /(?:struct|class|enum|actor|protocol|extension|typealias) ([A-Za-z.]+)/
                )
            }
            for name in Set(declarations.flatMap { $0.1.split(separator: ".") }) {
                files[String(name), default: []].append(file)
            }
        }
        self.files = files
        words = Set(
            Repository.migrations.flatMap { file in
                let folders = file.path.lowercased().split(separator: "/")
                return file.text.matches(of: /[a-z0-9_]+/).map(\.output)
                    + [file.name.dropLast(4), "\(folders[1])_\(file.name.dropLast(4))"]
            }
        )
    }

    /// Whether a name exists; what is no name of code, such as a command, is not looked up.
    func hold(_ name: String) -> Bool {
        if name.contains(" ") || name.contains("=") { return true }
        if name.contains("/") { return Repository.exists(name) }
        let parts = name.prefix { $0 != "(" }.split(separator: ".").map(String.init)
        guard let first = parts.first, let last = parts.last else { return false }
        guard first.first?.isUppercase == true else {
            return parts.allSatisfy { part in
                words.contains { $0 == part || $0.hasSuffix("_" + part) }
            }
        }
        guard let files = files[first] else { return false }
        return parts.count == 1 || files.contains { $0.declares(member: last) }
    }
}

extension SourceFile {
    /// Whether a function, property or case of a name is declared in the file.
    fileprivate func declares(member name: String) -> Bool {
        code.contains { _, line in
            line.contains(name)
                && line.matches(of: /\b(?:func|var|let|case) ([A-Za-z0-9]+)/).contains {
                    $0.1 == name
                }
        }
    }
}
