import EventTypes
import Foundation
import StoreTracing
import Testing

@testable import Operator

/// A trace put together from files.
@Suite struct WaterfallTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    private static func line(
        _ id: Int,
        under parent: Int?,
        _ name: String,
        from start: Int,
        to end: Int,
        trace: String = trace,
        more: String = ""
    ) -> String {
        func hexadecimal(_ id: Int) -> String { "00f067aa0ba9000\(id)" }
        let cause = parent.map { #""parentSpanId":"\#(hexadecimal($0))","# } ?? ""
        return #"""
            {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name",\#
            "value":{"stringValue":"payments"}}]},"scopeSpans":[{"scope":{"name":"counterfoil"},\#
            "spans":[{"traceId":"\#(trace)","spanId":"\#(hexadecimal(id))",\#(cause)\#
            "name":"\#(name)","kind":2,"startTimeUnixNano":"\#(start)000000",\#
            "endTimeUnixNano":"\#(end)000000","attributes":[{"key":"http.response.status_code",\#
            "value":{"intValue":"201"}}]\#(more)}]}]}]}
            """#
    }

    private func spans(_ lines: String...) throws -> [RecordedSpan] {
        let path = NSTemporaryDirectory() + "/spans-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }  // A leftover does no harm.
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
        let trace = try #require(TraceID(Self.trace))
        return try SpanFile.spans(of: [trace], in: [path, path])
    }

    @Test func eachSpanStandsUnderTheOneThatCausedIt() throws {
        let other = String(repeating: "1", count: 32)
        let spans = try spans(
            Self.line(3, under: 2, "third", from: 12, to: 14),
            "2026-11-21T21:00:00Z info payments: a line of the log, of trace \(Self.trace)",
            Self.line(2, under: 1, "second", from: 11, to: 20),
            Self.line(4, under: 1, "fourth", from: 30, to: 50),
            Self.line(1, under: 9, "first", from: 10, to: 20),
            // Another trace that links to this one.
            Self.line(
                5,
                under: nil,
                "of another",
                from: 1,
                to: 2,
                trace: other,
                more: #","links":[{"traceId":"\#(Self.trace)","spanId":"00f067aa0ba90001"}]"#
            ),
            #"{"resourceSpans":[{"traceId":"\#(Self.trace)" is cut"#
        )
        let tree = Waterfall(spans)
        #expect(tree.lines.map(\.depth) == [0, 1, 2, 1])
        #expect(tree.lines.map(\.span.name) == ["first", "second", "third", "fourth"])
        #expect(
            Palette.plain.table(tree.rows(width: 4), numbers: [0, 1]) == """
                    AFTER       TOOK  WHERE     WHAT           WHEN
                 0.000 ms  10.000 ms  payments  first 201      ██
                 1.000 ms   9.000 ms  payments    second 201   ██
                 2.000 ms   2.000 ms  payments      third 201  █
                20.000 ms  20.000 ms  payments    fourth 201     ██
                """
        )
    }

    @Test func spansThatNameEachOtherStandAtTheEnd() throws {
        let tree = Waterfall(
            try spans(
                Self.line(1, under: 2, "first", from: 10, to: 20),
                Self.line(2, under: 1, "second", from: 11, to: 20),
                Self.line(3, under: 3, "own", from: 12, to: 20)
            )
        )
        #expect(tree.lines.map(\.span.name) == ["own", "first", "second"])
    }
}
