import EventTypes
import Foundation
import Hummingbird
import Logging
import StoreTracing
import Synchronization
import Testing

@testable import ServiceKit

/// The origin of a request's trace, and the spans that are recorded for it.
@Suite(.timeLimit(.minutes(10)))
struct RequestTraceTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let client = "00-\(trace)-00f067aa0ba902b7-01"

    private struct Broken: Error {}

    private func routes(_ router: StoreRouter) {
        router.open.get("/v1/things/:id") { _, context in
            try jsonResponse(["trace": "\(context.trace)"])
        }
        router.open.get("/broken") { _, _ -> Response in throw Broken() }
    }

    /// The trace that a handler sees.
    private func seen(
        for headers: [String: String],
        _ spans: SpanRecorder = .off
    ) async throws -> TraceContext {
        let response = try await withServer(spans: spans, routes: routes) { port, _ in
            try await send("GET", "/v1/things/7", headers: headers, to: port)
        }
        #expect(response.status == 200)
        return try #require(try response.field("trace").flatMap { TraceContext($0) })
    }

    @Test func aClientsTraceIsTakenAsItIsWhereNobodyTakesSpans() async throws {
        #expect("\(try await seen(for: ["Traceparent": Self.client]))" == Self.client)
    }

    @Test(arguments: [
        [:], ["traceparent": "garbage"], ["traceparent": ""],
        ["traceparent": "00-\(trace)-0000000000000000-01"],
        ["traceparent": "\(client), \(client)"],
        // The same header twice, in two spellings.
        ["traceparent": client, "Traceparent": client],
        ["tracestate": "vendor=\(trace)"],
    ])
    func withoutAWellFormedOneARequestBeginsATrace(headers: [String: String]) async throws {
        let first = try await seen(for: headers)
        let second = try await seen(for: headers)
        #expect(first.traceID != second.traceID)
        #expect("\(first.traceID)" != Self.trace && "\(second.traceID)" != Self.trace)
        #expect(first.isSampled)
    }

    @Test func aRequestIsASpanUnderItsClientsNamedByItsRoute() async throws {
        let taken = Mutex<[Span]>([])
        let recorder = SpanRecorder { spans in taken.withLock { $0 += spans } }
        let context = try await seen(for: ["traceparent": Self.client], recorder)
        let span = try #require(taken.withLock { $0 }.first)
        #expect(span.context == context && "\(context.traceID)" == Self.trace)
        #expect(span.parent == SpanID("00f067aa0ba902b7"))
        #expect(span.name == "GET /v1/things/{id}" && span.kind == .server && !span.isError)
        #expect(span.attributes["http.response.status_code"] == .number(200))
        #expect(span.start <= span.end)
    }

    @Test func healthAndWhatIsNotSampledIsNotRecorded() async throws {
        let taken = Mutex<[Span]>([])
        let recorder = SpanRecorder { spans in taken.withLock { $0 += spans } }
        let unsampled = String(Self.client.dropLast(2)) + "00"
        _ = try await withServer(spans: recorder, routes: routes) { port, _ in
            for path in ["/health/live", "/health/ready", "/metrics"] {
                _ = try await send("GET", path, to: port)
            }
            return try await send(
                "GET",
                "/v1/things/7",
                headers: ["traceparent": unsampled],
                to: port
            )
        }
        #expect(taken.withLock { $0 }.isEmpty)
    }

    @Test func theLogOfAFailureNamesItsTrace() async throws {
        let written = Collected()
        let logger = Logger(label: "payments") { label in
            LogOutput(label: label, write: { written.append($0) })
        }
        let response = try await withServer(logger: logger, routes: routes) { port, _ in
            try await send(
                "GET",
                "/broken",
                headers: ["traceparent": Self.client],
                to: port
            )
        }
        #expect(response.status == 500)
        #expect(written.text.contains(" trace=\(Self.trace)"), "\(written.text)")
    }

    @Test func aLineIsOneSpanInOTLPsJSON() throws {
        let context = try #require(TraceContext(Self.client))
        let output = SpanOutput(path: "-", service: "payments", logger: silent)
        let line = output.line(
            of: Span(
                "POST /v1/\"payments\"",
                .server,
                context,
                parent: SpanID("00f067aa0ba902b8"),
                link: context,
                from: 1_800_000_000_000_000_001,
                to: 1_800_000_000_000_000_002,
                attributes: [
                    "http.response.status_code": .number(500),
                    "long": .text(String(repeating: "x", count: 5000)),
                ],
                isError: true
            )
        )
        let long = String(repeating: "x", count: 120) + "…"
        #expect(
            line == #"""
                {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name",\#
                "value":{"stringValue":"payments"}}]},"scopeSpans":[{"scope":\#
                {"name":"counterfoil"},"spans":[{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736",\#
                "spanId":"00f067aa0ba902b7","parentSpanId":"00f067aa0ba902b8",\#
                "name":"POST /v1/\"payments\"","kind":2,\#
                "startTimeUnixNano":"1800000000000000001",\#
                "endTimeUnixNano":"1800000000000000002","attributes":[\#
                {"key":"http.response.status_code","value":{"intValue":"500"}},\#
                {"key":"long","value":{"stringValue":"\#(long)"}}],\#
                "links":[{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736",\#
                "spanId":"00f067aa0ba902b7"}],"status":{"code":2}}]}]}]}

                """#
        )
        #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any])
    }

    @Test func spansAreAppendedAndAFileThatCannotBeOpenedIsLoggedOnce() throws {
        let path = NSTemporaryDirectory() + "/spans-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }  // A leftover does no harm.
        let span = Span("x", .internal, .begin(), parent: nil, from: 1, to: 2)
        for _ in 0..<2 {
            SpanOutput(path: path, service: "payments", logger: silent).write([span, span])
        }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.split(separator: "\n").count == 4 && text.hasSuffix("\n"))

        let written = Collected()
        let logger = Logger(label: "payments") { label in
            LogOutput(label: label, write: { written.append($0) })
        }
        let nowhere = SpanOutput(path: path + "/no/file", service: "x", logger: logger)
        nowhere.write([span])
        nowhere.write([span])
        #expect(written.text.split(separator: "\n").count == 1, "\(written.text)")
    }

    @Test func spansThatAFullDiskRefusesAreSaidOnceAndSpoilNoLine() throws {
        let written = Collected()
        let logger = Logger(label: "payments") { label in
            LogOutput(label: label, write: { written.append($0) })
        }
        let span = Span("x", .internal, .begin(), parent: nil, from: 1, to: 2)
        SpanOutput(path: "/dev/full", service: "payments", logger: logger).write([span, span])
        #expect(written.text.split(separator: "\n").count == 1, "\(written.text)")
        #expect(written.text.contains("cannot be written"))

        // The disk has room for part of a line, then for nothing, then for everything.
        let file = Collected()
        let room = Mutex([5, 0, 0, Int.max, Int.max])
        let output = SpanOutput(path: "-", service: "payments", logger: logger) { text, _ in
            let taken = text.utf8.prefix(room.withLock { $0.removeFirst() })
            file.append(String(decoding: taken, as: UTF8.self))
            return text.utf8.count - taken.count
        }
        output.write([span, span, span, span, span])
        let line = output.line(of: span)
        #expect(file.text == line.prefix(5) + "\n" + line + line)
        #expect(written.text.split(separator: "\n").count == 3, "\(written.text)")
        #expect(written.text.contains("written again"))
    }
}
