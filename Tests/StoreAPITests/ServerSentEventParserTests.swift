import StoreAPI
import Testing

@Suite struct ServerSentEventParserTests {
    private func parse(_ parts: String...) throws -> [ServerSentEventParser.Event] {
        var parser = ServerSentEventParser()
        return try parts.flatMap { try parser.parse(Array($0.utf8)) }
    }

    @Test func anEventHasItsIdItsNameAndItsData() throws {
        let event = try #require(try parse("id: 7\nevent: removed\ndata: {\"a\":1}\n\n").first)
        #expect(event.id == "7")
        #expect(event.name == "removed")
        #expect(event.data == Array("{\"a\":1}".utf8))
    }

    @Test(arguments: ["\n", "\r\n", "\r"])
    func whereTheBytesAreCutDoesNotMatter(lineEnd: String) throws {
        let text =
            "id: 7\nevent: transaction\ndata: é\ndata:second\nunknown: x\n\n:beat\n\ndata: x\n\n"
            .replacing("\n", with: lineEnd)
        let whole = try parse(text)
        for size in 1...20 {
            var parser = ServerSentEventParser()
            let bytes = Array(text.utf8)
            let events = try stride(from: 0, to: bytes.count, by: size).flatMap {
                try parser.parse(bytes[$0..<min($0 + size, bytes.count)])
            }
            #expect(events == whole)
        }
        #expect(whole.map(\.data) == [Array("é\nsecond".utf8), Array("x".utf8)])
        #expect(whole.map(\.name) == ["transaction", "message"])
        #expect(whole.map(\.id) == ["7", "7"], "The id stays until another is named.")
    }

    @Test func aCommentAndAnUnfinishedEventAreNoEvents() throws {
        #expect(
            try parse(":\n\n", ": beat\n\n", "event: no data\n\n", "data: never ends\n").isEmpty
        )
    }

    @Test func aLineWithoutAnEndIsRefusedBeforeItFillsTheMemory() throws {
        var parser = ServerSentEventParser(lineLengthMax: 10)
        #expect(throws: ServerSentEventParser.LineIsTooLong.self) {
            for _ in 0...10 { _ = try parser.parse([0x61]) }
        }
    }
}
