import Testing

/// A test that stops a service at a statement would wait for ever if no service sent that statement.
@Suite struct HeldStatementTests {
    /// The parts of statements that a line of a test names.
    static func statements(in line: String) -> [String] {
        guard line.holdsAny(of: ["ofTransactionWith:", "containing:", "u."]) else { return [] }
        let named = line.matches(of: /(?:ofTransactionWith|containing): "([^"\\]+)"/)
            .map { String($0.1) }
        let assigned = line.matches(of: /"([^"\\]*= (?:coalesce\()?u\.[^"\\]+)"/)
            .map { String($0.1) }
        return named + assigned
    }

    @Test func everyStatementThatATestHoldsIsSent() {
        let sources = Repository.swiftFiles.filter(\.isProduct).map(\.codeText)
        var findings = Findings()
        var found = 0
        for file in Repository.swiftFiles where file.path.hasPrefix("Tests/EndToEndTests/") {
            for (number, line) in file.code {
                for statement in Self.statements(in: line) {
                    found += 1
                    let isSent = sources.contains { $0.holdsAny(of: [statement]) }
                    if !isSent { findings.add(file, number, "no service sends \(statement)") }
                }
            }
        }
        findings.report()
        #expect(found > 20, "the search finds the statements that there are")
    }

    @Test func aStatementIsFoundWithItsNameOrWithout() {
        let held = #".beforeCommit(ofTransactionWith: "INTO outbox")"#
        let argument = #"@Test(arguments: ["step = coalesce(u.step", "INTO outbox"])"#
        #expect(Self.statements(in: held) == ["INTO outbox"])
        #expect(Self.statements(in: argument) == ["step = coalesce(u.step"])
    }
}
