import EventTypes
import StoreTracing

/// The spans of a batch of events: applying an event is a span of that event's own trace.
struct BatchTrace: Sendable {
    /// The events, with the new spans as the parents of everything that follows from them.
    let events: [ReceivedEvent]
    private let steps: [EventID: SpanStep]
    private let start: UInt64
    private let spans: SpanRecorder

    /// Begins the spans.
    ///
    /// If spans are not recorded, the events stay unchanged.
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
            // An event that occurs twice in a batch is applied once.
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

    /// Records the spans of events that have been applied or have failed.
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
    /// The id of the event's trace, for a log line; empty if it has none.
    public var trace: String {
        traceparent?.traceID.description ?? ""
    }
}
