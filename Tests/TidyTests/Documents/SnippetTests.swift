import Testing

/// The Swift code of documents is code that the compiler has seen.
@Suite struct SnippetTests {
    /// A block of Swift in a document.
    private struct Block {
        let document: SourceFile
        let line: Int
        let text: String

        /// Manifests; `make client-package` builds one like them.
        var isManifest: Bool { text.hasPrefix("dependencies:") || text.hasPrefix(".package(") }
    }

    /// Each block stands in a compiled file, apart from white space and imports.
    @Test func everySnippetIsCompiled() {
        let compiled = Repository.swiftFiles
            .filter { $0.isNamed(["Snippet", "Composition", "main"]) }
            .map { Self.condensed($0.lines) }
        var findings = Findings()
        var count = 0
        for document in Repository.documents {
            for block in Self.blocks(of: document) where !block.isManifest {
                count += 1
                if !compiled.contains(where: { $0.contains(block.text) }) {
                    findings.add(document, block.line, "no …Snippet.swift contains this code")
                }
            }
        }
        findings.report()
        #expect(count > 7, "the search finds the blocks that there are")
    }

    private static func blocks(of document: SourceFile) -> [Block] {
        var blocks: [Block] = []
        var open: (line: Int, lines: [String])?
        for (line, text) in zip(1..., document.lines) {
            if text.hasPrefix("```swift") {
                open = (line, [])
            } else if text.hasPrefix("```"), let (start, lines) = open {
                let text = condensed(lines.filter { !$0.hasPrefix("import ") })
                blocks.append(Block(document: document, line: start, text: text))
                open = nil
            } else {
                open?.lines.append(text)
            }
        }
        return blocks
    }

    /// The lines without white space.
    private static func condensed(_ lines: [String]) -> String {
        lines.joined().filter { !$0.isWhitespace }
    }
}
