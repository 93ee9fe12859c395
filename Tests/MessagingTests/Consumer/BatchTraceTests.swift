import ClockAndIDs
import EventTypes
import StoreTracing
import Synchronization
import Testing

@testable import Messaging

/// A batch applies many events, and each keeps its own trace.
@Suite struct BatchTraceTests {
    private func event(_ traceparent: TraceContext?) -> ReceivedEvent {
        let time = StoreTime(millisecondsSinceEpoch: 1_800_000_000_000)
        return ReceivedEvent(
            id: EventID(time: time),
            type: .receiptIssued,
            topic: "receipts.issued",
            key: "quinn",
            subject: "1000001",
            time: time,
            traceparent: traceparent,
            data: []
        )
    }

    @Test func eachEventOfABatchIsASpanOfItsOwnTrace() throws {
        let taken = Mutex<[Span]>([])
        let recorder = SpanRecorder { spans in taken.withLock { $0 += spans } }
        let causes = (0..<5).map { _ in TraceContext.begin() }
        let came = causes.map { event($0) } + [event(nil)]
        // One event occurs twice in the batch.
        let trace = BatchTrace(of: came + [came[0]], for: recorder)
        trace.end(Array(trace.events.prefix(6)))
        let spans = taken.withLock { $0 }
        #expect(spans.map(\.context.traceID) == causes.map(\.traceID))
        #expect(spans.map(\.parent) == causes.map(\.spanID))
        // The span of an event is the parent of everything that follows from it.
        #expect(trace.events.prefix(5).map(\.traceparent) == spans.map(\.context))
        #expect(trace.events.last?.traceparent == trace.events[0].traceparent)
        #expect(trace.events[5].traceparent == nil)
        #expect(spans.allSatisfy { $0.name == "apply receipt.issued.v1" })
        #expect(!"\(spans)".contains("quinn"))
    }

    @Test func whereNobodyTakesSpansEventsAreAsTheyCame() {
        let cause = TraceContext.begin()
        let trace = BatchTrace(of: [event(cause)], for: .off)
        #expect(trace.events.map(\.traceparent) == [cause])
    }
}
