import EventTypes
import StoreTracing

extension Span {
    /// Makes the span of a published event; `nil` if the event has no trace.
    ///
    /// The Kafka message still carries the event's own trace context, as it is in the log.
    init?(publishing event: OutboxEvent, from start: UInt64) {
        guard let cause = event.traceparent else { return nil }
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
