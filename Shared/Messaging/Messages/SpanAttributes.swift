import EventTypes
import StoreTracing

/// The attributes of the spans of events, named by OpenTelemetry's conventions for messaging.
enum SpanAttributes {
    static func of(_ topic: String, _ id: EventID) -> [String: Span.Value] {
        [
            "messaging.system": .text("kafka"), "messaging.destination.name": .text(topic),
            "messaging.message.id": .text(id.description),
        ]
    }
}
