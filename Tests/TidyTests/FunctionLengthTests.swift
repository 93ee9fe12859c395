import Testing

/// A function of the product can be read without scrolling far.
@Suite struct FunctionLengthTests {
    private static let linesMax = 70

    /// Files with a longer function, and why.
    private static let longer = [
        "Services/OperatorCore/Reconcile/SubscriptionAuditStore.swift":
            "one row of one statement has thirteen columns"
    ]

    /// The functions that have more lines than a limit, each with its first line.
    ///
    /// The formatter gives the end of a function the indentation of its beginning.
    private static func long(
        in lines: [String],
        above linesMax: Int
    ) -> [(line: Int, count: Int)] {
        var found: [(line: Int, count: Int)] = []
        // Most lines are no head, and a pattern takes far longer to say so than a search for words.
        for start in lines.indices
        where lines[start].contains("func ") || lines[start].contains("init") {
            guard
                let head = lines[start]
                    .firstMatch(of: /^( *)(?:@?[\w().]+ )*(?:func |init[?(<])/)
            else { continue }
            let indent = head.1
            func beginsThere(_ line: String) -> Bool {
                line.hasPrefix(indent) && ![nil, " "].contains(line.dropFirst(indent.count).first)
            }
            func goesOn(_ line: String) -> Bool {
                [")", ">", "where"].contains { line.dropFirst(indent.count).hasPrefix($0) }
            }
            let rest = lines[(start + 1)...]
            guard let end = rest.firstIndex(where: { beginsThere($0) && !goesOn($0) }),
                // A requirement of a protocol has no body.
                lines[start..<end].contains(where: { beginsThere($0) && $0.hasSuffix("{") })
            else { continue }
            let count = end - start + 1
            if count > linesMax { found.append((start + 1, count)) }
        }
        return found
    }

    @Test func functionsAreShort() {
        var findings = Findings()
        for file in Repository.swiftFiles
        where (file.isProduct || file.path.hasPrefix("Tools/")) && Self.longer[file.path] == nil {
            for (line, count) in Self.long(in: file.lines, above: Self.linesMax) {
                findings.add(file, line, "has \(count) lines; split it below \(Self.linesMax)")
            }
        }
        findings.report()
    }

    @Test(arguments: [
        ("func pay() {\n    mint()\n    spend()\n}", [1]),
        (
            "struct Till {\n    init(\n        coins: Int\n    ) throws {\n        count()\n    }\n}",
            [2]
        ),
        ("    func pay()\n    where Coin: Round {\n        a()\n        b()\n    }", [1]),
        ("func pay() { mint() }\n\n\n\n}", []), ("func pay() {\n    mint()\n}", []),
        ("protocol Till {\n    func pay()\n\n\n\n    func count()\n}", []),
    ])
    func aLongFunctionIsFound(_ text: String, lines: [Int]) {
        let all = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(Self.long(in: all, above: 3).map(\.line) == lines)
    }
}
