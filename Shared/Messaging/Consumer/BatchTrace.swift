import EventTypes
import StoreTracing

/// The spans of a batch of events: each event is acted on in a span of its own trace.
struct BatchTrace: Sendable {
    /// The events; what follows from them is caused by their spans.
    let events: [ReceivedEvent]
    private let steps: [EventID: SpanStep]
    private let start: UInt64
    private let spans: SpanRecorder

    /// Begins the spans; where nobody takes them, the events are as they came.
    init(of events: [ReceivedEvent], for spans: SpanRecorder) {
        self.spans = spans
        start = spans.start
        guard spans.isOn else {
            self.events = events
            steps = [:]
            return
        }
        var steps: [EventID: SpanStep] = [:]
        self.events = events.map { event in
            // An event that stands twice in a batch is acted on once.
            guard
                let step = steps[event.id] ?? spans.next(after: event.traceparent, .consumer)
            else { return event }
            steps[event.id] = step
            var event = event
            event.traceparent = step.traceparent
            return event
        }
        self.steps = steps
    }

    /// Records the spans of events that are done.
    func end(_ done: [ReceivedEvent], isError: Bool = false) {
        guard spans.isOn else { return }
        let end = Span.clock()
        spans.record(
            done.compactMap { event in
                steps[event.id]?.span(
                    "apply \(event.type)",
                    from: start,
                    to: end,
                    attributes: SpanAttributes.of(event.topic, event.id),
                    isError: isError
                )
            }
        )
    }
}

extension ReceivedEvent {
    /// The id of its trace, for a log line; empty if it has none.
    public var trace: String {
        traceparent.flatMap { TraceContext($0) }?.traceID.description ?? ""
    }
}
