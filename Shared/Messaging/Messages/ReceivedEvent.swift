public import EventTypes
import Seals
public import StoreTracing

/// An event as a consumer receives it: its attributes, its data as bytes, and its origin.
public struct ReceivedEvent: Sendable {
    /// The event's identity.
    public let id: EventID
    /// The kind of event.
    public let type: EventType
    /// The topic from which it was read.
    public let topic: String
    /// The key of its message: an account's or a product's id.
    public let key: String
    /// The id of its subject, such as a transaction or a product.
    public let subject: String
    /// The time when it happened.
    public let time: StoreTime
    /// The W3C trace context in which it happened or is applied.
    public internal(set) var traceparent: TraceContext?
    /// Its data: JSON.
    public let data: [UInt8]
    /// The partition from which it was read.
    public let partition: Int32
    /// Its offset in that partition.
    public let offset: Int64
    /// The number of the broker's log into which it was published.
    let epoch: Int32
    /// Its place in its producer's outbox.
    let place: LogPlace
    /// The place of the event before it in its chain; `nil` if it names none.
    let previous: LogPlace?
    /// Whether it was sent by ``EventReplay``.
    ///
    /// The place of a replayed event says nothing about the consumer's progress, and its epoch
    /// nothing about the log it was read from.
    let isReplayed: Bool
    /// The only consumer for which it is meant; `nil` for all.
    let onlyConsumer: String?

    /// Makes an event as the consumer would receive it, for tests of handlers and for redrives.
    public init(
        id: EventID,
        type: EventType,
        topic: String,
        key: String,
        subject: String,
        time: StoreTime,
        traceparent: TraceContext? = nil,
        data: [UInt8],
        partition: Int32 = 0,
        offset: Int64 = 0
    ) {
        self.init(
            id: id,
            type: type,
            topic: topic,
            key: key,
            subject: subject,
            time: time,
            traceparent: traceparent,
            data: data,
            partition: partition,
            offset: offset,
            epoch: 1,
            place: .start
        )
    }

    init(
        id: EventID,
        type: EventType,
        topic: String,
        key: String,
        subject: String,
        time: StoreTime,
        traceparent: TraceContext?,
        data: [UInt8],
        partition: Int32,
        offset: Int64,
        epoch: Int32,
        place: LogPlace,
        previous: LogPlace? = nil,
        isReplayed: Bool = false,
        onlyConsumer: String? = nil
    ) {
        self.id = id
        self.type = type
        self.topic = topic
        self.key = key
        self.subject = subject
        self.time = time
        self.traceparent = traceparent
        self.data = data
        self.partition = partition
        self.offset = offset
        self.epoch = epoch
        self.place = place
        self.previous = previous
        self.isReplayed = isReplayed
        self.onlyConsumer = onlyConsumer
    }

    /// The chain to which it belongs.
    var chain: EventChain { EventChain(topic: topic, key: key) }

    /// Makes an event from a row of its producer's log, as if it had just been received.
    public init(_ row: OutboxRow) {
        self.init(
            id: row.event.id,
            type: row.event.type,
            topic: row.event.topic,
            key: row.event.key,
            subject: row.event.subject,
            time: row.event.time,
            traceparent: row.event.traceparent,
            data: row.event.data
        )
    }

    /// Decodes the event's data.
    ///
    /// - Throws: `DecodingError`. A handler does not catch it, so that the event is dead-lettered.
    public func decode<Value: Event>(_ type: Value.Type) throws -> Value {
        try EventCoding.decode(type, from: data)
    }
}
