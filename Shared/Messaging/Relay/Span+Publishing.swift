import EventTypes
import StoreTracing

extension Span {
    /// The span of an event that was published; its message carries the event's own trace context, as
    /// the log has it.
    ///
    /// `nil` for an event without a trace.
    init?(publishing event: OutboxEvent, from start: UInt64) {
        guard let cause = event.traceparent.flatMap({ TraceContext($0) }) else { return nil }
        self.init(
            "publish \(event.type)",
            .producer,
            cause.child(),
            parent: cause.spanID,
            from: start,
            to: Span.clock(),
            attributes: SpanAttributes.of(event.topic, event.id)
        )
    }
}
