import EventTypes
import StoreTracing

/// What the spans of events say: names of OpenTelemetry's conventions for messaging.
enum SpanAttributes {
    static func of(_ topic: String, _ id: EventID) -> [String: Span.Value] {
        [
            "messaging.system": .text("kafka"), "messaging.destination.name": .text(topic),
            "messaging.message.id": .text(id.description),
        ]
    }
}
