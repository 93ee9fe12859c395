import ClockAndIDs
public import EventTypes
public import StoreTracing

/// An event for the outbox: its attributes, and its data already encoded.
public struct OutboxEvent: Sendable {
    /// The event's id.
    ///
    /// It never changes, however often the event is published.
    public let id: EventID
    /// The kind of event.
    public let type: EventType
    /// The name of its topic.
    public let topic: String
    /// The key of its message; events of one key keep their order.
    public let key: String
    /// The id of its subject, such as a transaction or a product.
    public let subject: String
    /// The time when it happened.
    public let time: StoreTime
    /// The W3C trace context in which it happened.
    public let traceparent: TraceContext?
    /// Its data: JSON.
    public let data: [UInt8]

    /// Makes an event from data that is already encoded.
    public init(
        id: EventID,
        type: EventType,
        topic: Topic,
        key: String,
        subject: String,
        time: StoreTime,
        traceparent: TraceContext? = nil,
        data: [UInt8]
    ) {
        self.init(
            id: id,
            type: type,
            topicName: topic.name,
            key: key,
            subject: subject,
            time: time,
            traceparent: traceparent,
            data: data
        )
    }

    /// Makes an event with a new id, and encodes its data.
    ///
    /// - Throws: `EncodingError`, which does not happen for the types of `EventTypes`.
    public init(
        _ event: some Event,
        type: EventType,
        topic: Topic,
        key: String,
        subject: String,
        time: StoreTime,
        traceparent: TraceContext? = nil
    ) throws {
        self.init(
            id: EventID(time: time),
            type: type,
            topicName: topic.name,
            key: key,
            subject: subject,
            time: time,
            traceparent: traceparent,
            data: try EventCoding.encode(event)
        )
    }

    /// Makes an event with the attributes that a log has for it.
    public init(
        id: EventID,
        type: EventType,
        topicName: String,
        key: String,
        subject: String,
        time: StoreTime,
        traceparent: TraceContext?,
        data: [UInt8]
    ) {
        self.id = id
        self.type = type
        self.topic = topicName
        self.key = key
        self.subject = subject
        self.time = time
        self.traceparent = traceparent
        self.data = data
    }
}
