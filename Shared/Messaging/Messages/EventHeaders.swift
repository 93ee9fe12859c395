import EventTypes
import Kafka
import Seals
import StoreTracing

/// The Kafka binding of CloudEvents 1.0 in binary mode: attributes in headers, data in the value.
///
/// (CloudEvents, Kafka Protocol Binding, section 3.2.) Three attributes of our own say where an
/// event is in its producer's log, and two mark a replay.
enum EventHeaders {
    static let id = "ce_id"
    static let source = "ce_source"
    static let specificationVersion = "ce_specversion"
    static let type = "ce_type"
    static let time = "ce_time"
    static let subject = "ce_subject"
    static let dataSchema = "ce_dataschema"
    static let traceparent = "traceparent"
    /// The epoch: the number of the broker's log into which the event was published.
    ///
    /// It rises when the broker has lost its log.
    static let epoch = "ce_epoch"
    /// The event's place in the producer's outbox: `xid:position`.
    static let position = "ce_position"
    /// The place of the event before this one in its chain; absent in compacted topics.
    static let previous = "ce_previous"
    /// The id of the replay that sent the message; absent if the relay sent it.
    static let replay = "ce_replay"
    /// The only consumer for which a replay is meant.
    static let replayConsumer = "ce_replayconsumer"

    /// The message that carries an event.
    static func record(
        for row: OutboxRow,
        service: String,
        epoch: Int32,
        previous: LogPlace? = nil
    ) -> KafkaRecord {
        let event = row.event
        var headers = [
            KafkaHeader(name: specificationVersion, value: Array("1.0".utf8)),
            KafkaHeader(name: id, value: Array(event.id.description.utf8)),
            KafkaHeader(name: source, value: Array(service.utf8)),
            KafkaHeader(name: type, value: Array(event.type.rawValue.utf8)),
            KafkaHeader(name: time, value: Array(event.time.description.utf8)),
            KafkaHeader(name: subject, value: Array(event.subject.utf8)),
            KafkaHeader(name: dataSchema, value: Array("/schemas/\(event.type.rawValue)".utf8)),
            KafkaHeader(name: self.epoch, value: Array(String(epoch).utf8)),
            KafkaHeader(name: position, value: row.place.utf8),
        ]
        if let previous {
            headers.append(KafkaHeader(name: self.previous, value: previous.utf8))
        }
        if let traceparent = event.traceparent {
            headers.append(
                KafkaHeader(name: self.traceparent, value: Array(traceparent.description.utf8))
            )
        }
        return KafkaRecord(
            topic: event.topic,
            key: Array(event.key.utf8),
            value: event.data,
            headers: headers
        )
    }

    /// The type and the id of the event in a message, read without the other headers.
    static func typeAndID(of message: KafkaMessage) -> (type: EventType?, id: EventID?) {
        var type: EventType?
        var id: EventID?
        message.packedHeaders.forEach { name, value in
            if matches(name, Self.type) {
                type = EventType(rawValue: String(decoding: value, as: UTF8.self))
            } else if matches(name, Self.id) {
                id = EventID(utf8: value)
            }
        }
        return (type, id)
    }

    /// Whether the bytes of a name are those of a text.
    private static func matches(_ name: UnsafeBufferPointer<UInt8>, _ text: String) -> Bool {
        name.count == text.utf8.count && name.elementsEqual(text.utf8)
    }

    /// The event in a message, or the reason why the message is malformed.
    static func event(in message: KafkaMessage) -> Result<ReceivedEvent, MalformedMessage> {
        let fields = Fields(message.packedHeaders)
        guard let id = fields.id else {
            return .failure(MalformedMessage(reason: "the header \(Self.id) is not a UUID"))
        }
        guard let type = fields.type else {
            return .failure(MalformedMessage(reason: "the header \(Self.type) is missing"))
        }
        guard let time = fields.time else {
            return .failure(MalformedMessage(reason: "the header \(Self.time) is not a UTC time"))
        }
        // Without a place a consumer could not tell whether it has applied the event.
        guard let place = fields.place, place != .start else {
            return .failure(MalformedMessage(reason: "the header \(Self.position) is not a place"))
        }
        guard let data = message.value, let key = message.key else {
            return .failure(MalformedMessage(reason: "the message has no key or no value"))
        }
        // PostgreSQL cannot store text that contains U+0000.
        guard !key.contains(0), !fields.hasZero else {
            return .failure(MalformedMessage(reason: "the key or a header holds U+0000"))
        }
        return .success(
            ReceivedEvent(
                id: id,
                type: EventType(rawValue: type),
                topic: message.topic,
                key: String(decoding: key, as: UTF8.self),
                subject: fields.subject,
                time: time,
                traceparent: fields.traceparent,
                data: data,
                partition: message.partition,
                offset: message.offset,
                epoch: fields.epoch,
                place: place,
                previous: fields.previous,
                isReplayed: fields.isReplayed,
                onlyConsumer: fields.onlyConsumer
            )
        )
    }

    /// The headers that a consumer reads, each parsed once.
    private struct Fields {
        var id: EventID?
        var type: String?
        var time: StoreTime?
        var subject = ""
        var traceparent: TraceContext?
        var epoch: Int32 = 1
        var place: LogPlace?
        var previous: LogPlace?
        var isReplayed = false
        var onlyConsumer: String?
        /// Whether the value of any header has a byte of zero.
        var hasZero = false

        init(_ headers: KafkaHeaders) {
            headers.forEach { take($0, $1) }
        }

        private mutating func take(
            _ name: UnsafeBufferPointer<UInt8>,
            _ value: UnsafeBufferPointer<UInt8>
        ) {
            if value.contains(0) { hasZero = true }
            var text: String { String(decoding: value, as: UTF8.self) }
            func isName(_ text: String) -> Bool { EventHeaders.matches(name, text) }
            if isName(EventHeaders.id) {
                id = EventID(utf8: value)
            } else if isName(EventHeaders.type) {
                type = text
            } else if isName(EventHeaders.time) {
                time = StoreTime(utf8: value)
            } else if isName(EventHeaders.subject) {
                subject = text
            } else if isName(EventHeaders.traceparent) {
                traceparent = TraceContext(utf8: Array(value))
            } else if isName(EventHeaders.epoch) {
                epoch = Int32(text) ?? 1
            } else if isName(EventHeaders.position) {
                place = LogPlace(utf8: value)
            } else if isName(EventHeaders.previous) {
                previous = LogPlace(utf8: value)
            } else if isName(EventHeaders.replay) {
                isReplayed = true
            } else if isName(EventHeaders.replayConsumer) {
                onlyConsumer = text
            }
        }
    }
}
