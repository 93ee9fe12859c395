import ClockAndIDs
public import EventTypes

/// An event on its way into the outbox: its attributes and its data, already bytes.
public struct OutboxEvent: Sendable {
    /// The event's identity, kept for life: every inbox recognises it by this.
    public let id: EventID
    /// The kind of event.
    public let type: EventType
    /// The name of the topic it goes to.
    public let topic: String
    /// The key of its message; events of one key keep their order.
    public let key: String
    /// What it is about: a transaction's or product's id.
    public let subject: String
    /// When it happened.
    public let time: Timestamp
    /// The W3C trace context it happened in.
    public let traceparent: String?
    /// Its data: JSON.
    public let data: [UInt8]

    /// Makes an event from data that is encoded already.
    public init(
        id: EventID,
        type: EventType,
        topic: Topic,
        key: String,
        subject: String,
        time: Timestamp,
        traceparent: String? = nil,
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
    /// - Throws: `EncodingError`, which for the types of `EventTypes` does not happen.
    public init(
        _ event: some Event,
        type: EventType,
        topic: Topic,
        key: String,
        subject: String,
        time: Timestamp,
        traceparent: String? = nil
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

    /// Makes an event as a log has it.
    public init(
        id: EventID,
        type: EventType,
        topicName: String,
        key: String,
        subject: String,
        time: Timestamp,
        traceparent: String?,
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
