import Foundation
import StoreTracing
import Testing

/// The parts of a `traceparent` (W3C Trace Context, level 1, section 3.2).
@Suite struct TraceContextTests {
    private static let example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func whatIsReadIsWrittenTheSame() throws {
        let context = try #require(TraceContext(Self.example))
        #expect("\(context)" == Self.example)
        #expect("\(context.traceID)" == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect("\(context.spanID)" == "00f067aa0ba902b7")
        #expect(context.isSampled)
        #expect(TraceID("\(context.traceID)") == context.traceID)
        #expect(SpanID("\(context.spanID)") == context.spanID)
    }

    @Test func ofTheFlagsOnlySampledIsPreserved() throws {
        let prefix = Self.example.dropLast(2)
        #expect(try #require(TraceContext(prefix + "fe")).description == prefix + "00")
        #expect(try #require(TraceContext(prefix + "ff")).description == prefix + "01")
    }

    @Test func theBytesAreReadAsTheyWereWritten() throws {
        for text in [Self.example, Self.example.dropLast() + "0"] {
            let context = try #require(TraceContext(text))
            #expect(context.bytes.count == 25)
            #expect(TraceContext(bytes: context.bytes) == context)
        }
        let bytes = try #require(TraceContext(Self.example)).bytes
        let noTrace = [UInt8](repeating: 0, count: 16) + bytes[16...]
        let noSpan = bytes[..<16] + [UInt8](repeating: 0, count: 8) + [1]
        for other in [[], Array(bytes.dropLast()), bytes + [0], noTrace, Array(noSpan)] {
            #expect(TraceContext(bytes: other) == nil)
        }
        #expect(TraceContext(bytes: bytes.dropLast() + [2]) == nil)
    }

    @Test func aVersionOfTheFutureIsReadAsFarAsItIsKnown() {
        let rest = Self.example.dropFirst(2)
        #expect(TraceContext("01" + rest)?.description == Self.example)
        #expect(TraceContext("cc" + rest + "-what-the-future-says")?.description == Self.example)
        #expect(TraceContext("cc" + rest + ".what-the-future-says") == nil)
        #expect(TraceContext("cc" + rest + "-" + String(repeating: "x", count: 500)) == nil)
    }

    @Test(arguments: [
        "", "garbage", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
        " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "0g-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01,"
            + "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    ])
    func whatIsNotWellFormedIsNone(traceparent: String) {
        #expect(TraceContext(traceparent) == nil)
    }

    @Test func aChildIsAnotherSpanOfTheSameTraceAndABeginningIsAnotherTrace() {
        let contexts = (0..<1000).map { _ in TraceContext.begin() }
        #expect(Set(contexts.map(\.traceID)).count == 1000)
        #expect(contexts.allSatisfy { TraceContext("\($0)") == $0 && $0.isSampled })
        for context in contexts {
            let child = context.child()
            #expect(child.traceID == context.traceID && child.spanID != context.spanID)
        }
    }

    @Test func aTraceContextIsAStringInJSON() throws {
        let context = try #require(TraceContext(Self.example))
        let json = try JSONEncoder().encode([context])
        #expect(String(decoding: json, as: UTF8.self) == "[\"\(Self.example)\"]")
        #expect(try JSONDecoder().decode([TraceContext].self, from: json) == [context])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([TraceContext].self, from: Data(#"["x"]"#.utf8))
        }
    }

    @Test func whereNobodyTakesSpansATraceGoesOnAsItCame() throws {
        let context = try #require(TraceContext(Self.example))
        let step = SpanRecorder.off.next(after: context)
        #expect(step?.traceparent == context)
        #expect(step?.span("x", from: 0, to: 1) == nil)
        #expect(SpanRecorder.off.start == 0)
    }

    @Test func aStepIsASpanUnderItsCauseUnlessTheTraceIsNotSampled() throws {
        let recorder = SpanRecorder { _ in }
        let example = try #require(TraceContext(Self.example))
        let step = try #require(recorder.next(after: example))
        let span = try #require(step.span("x", from: 1, to: 2))
        #expect(span.parent == example.spanID)
        #expect(span.context == step.traceparent)
        let unsampled = try #require(TraceContext(Self.example.dropLast(2) + "00"))
        let passed = try #require(recorder.next(after: unsampled))
        #expect(passed.traceparent == unsampled)
        #expect(passed.span("x", from: 1, to: 2) == nil)
        #expect(recorder.next(after: nil) == nil)
    }
}
