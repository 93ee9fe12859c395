import Testing

/// The name of a test is a short sentence that says what holds.
@Suite struct TestNameTests {
    private static let lengthMax = 60

    /// A short name fits into a table, and a reader can read it.
    @Test func theNamesOfTestsAreShort() {
        var findings = Findings()
        let tests = Repository.tests.tests
        for test in tests {
            guard let name = test.path.last, name.count > Self.lengthMax else { continue }
            findings.add(
                "\(test.file):\(test.line)",
                "\(name) has \(name.count) characters; \(Self.lengthMax) are plenty"
            )
        }
        findings.report()
        #expect(tests.count > 1000, "the search finds the tests that there are")
    }

    /// With a second name in a string, a document, a filter and a log would call one test differently.
    @Test func aTestHasNoSecondName() {
        var findings = Findings()
        for file in Repository.swiftFiles where file.path.hasPrefix("Tests/") {
            for line in Self.displayNames(in: file) {
                findings.add(file, line, "name the function with the sentence, without a string")
            }
        }
        findings.report()
    }

    @Test(arguments: [
        ("@Test(\"It is so\") func isSo() {}", true), ("@Suite(\n    \"All\"\n)", true),
        ("@Test func itIsSo() {}", false), ("@Test(arguments: [\"a\"])", false),
        ("@Suite(.timeLimit(.minutes(1)))", false), ("// @Test(\"It was so\")", false),
    ])
    func aSecondNameIsFound(text: String, isFound: Bool) {
        let file = SourceFile(path: "Tests/ShopTests/ShopTests.swift", text: text)
        #expect(Self.displayNames(in: file).isEmpty != isFound)
    }

    /// The lines of the attributes that begin with a string.
    private static func displayNames(in file: SourceFile) -> [Int] {
        file.code.compactMap { number, line in
            guard line.contains("@Test(") || line.contains("@Suite(") else { return nil }
            // The string may stand on the next line.
            let text = file.lines[number - 1..<min(number + 1, file.lines.count)]
                .joined(separator: "\n")
            return text.contains(/^ *@(?:Test|Suite)\(\s*"/) ? number : nil
        }
    }
}
