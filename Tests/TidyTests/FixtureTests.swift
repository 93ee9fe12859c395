import Testing

/// Every body that crosses HTTP stands in a file, so that a change of its form shows.
@Suite struct FixtureTests {
    /// A fixture is validated against its schema and read back by the type.
    @Test func everyBodyOverHTTPHasAFixture() throws {
        let schemas = try Self.schemas(of: Repository.file("Tests/Contracts/examples.py"))
        let fixtures = try Repository.names(in: "Tests/Fixtures/http")
        let tests = Repository.swiftFiles.filter { $0.path.hasPrefix("Tests/StoreAPITests/") }
        var findings = Findings()
        var count = 0
        for file in Repository.swiftFiles where file.path.hasPrefix("Shared/StoreAPI/") {
            for (line, name) in Self.bodies(in: file) {
                count += 1
                let isThere = schemas.contains { prefix, schema in
                    schema == name && fixtures.contains { $0.hasPrefix(prefix + ".") }
                }
                if !isThere {
                    findings.add(
                        file,
                        line,
                        "add a fixture of \(name), and its schema to examples.py"
                    )
                }
                if !tests.contains(where: { $0.text.contains("\(name).self") }) {
                    findings.add(file, line, "read the fixture of \(name) in HTTPFixtureTests")
                }
            }
        }
        findings.report()
        #expect(count > 20, "the search finds the types that there are")
    }

    @Test(arguments: [
        ("public struct CoinResponse: Codable, Hashable {", true),
        ("public struct CoinRequest<Metal>: Sendable, Decodable {", true),
        ("struct CoinResponse: Codable {", false),
        ("    public struct CoinRequest: Codable {", false),
        ("public struct Coin: Codable {", false), ("public struct CoinResponse: Sendable {", false),
    ])
    func aBodyIsFound(text: String, isBody: Bool) {
        let file = SourceFile(path: "Shared/StoreAPI/Coin.swift", text: text)
        #expect(Self.bodies(in: file).isEmpty != isBody)
    }

    /// The lines and names of the types that are whole bodies.
    private static func bodies(in file: SourceFile) -> [(Int, String)] {
        file.code.compactMap { number, line in
            guard line.hasPrefix("public struct "), line.contains("odable")
            else { return nil }
            let name = line.firstMatch(
                of: /^public struct (\w+(?:Request|Response|Document|Draft|Result))\b/
            )
            return name.map { (number, String($0.1)) }
        }
    }

    /// The schemas by the beginnings of the fixtures' names.
    private static func schemas(of list: SourceFile) -> [String: String] {
        var schemas: [String: String] = [:]
        for line in list.lines {
            guard let pair = line.wholeMatch(of: #/ {4}"([a-z.]+)": "([A-Za-z]+)",/#) else {
                continue
            }
            schemas[String(pair.1)] = String(pair.2)
        }
        return schemas
    }
}
