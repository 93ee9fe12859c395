import EventTypes
import Messaging
import Seals
import StoreTracing

/// An event of a log as a line of a file, with everything that the log contains about it.
public struct EventLine: Codable, Hashable, Sendable {
    /// The service whose log contains it.
    public let service: String
    /// Its place in the service's log: `xid:position`.
    let position: String
    let id: EventID
    let type: EventType
    let topic: String
    let key: String
    let subject: String
    let time: StoreTime
    /// The part of its time beyond whole milliseconds; services write none.
    let microseconds: Int64?
    /// The trace as it is in the log, even if it is not well-formed.
    let traceparent: String?
    /// Its data, byte for byte: JSON as text.
    let data: String

    init(_ row: ExactRow, service: String) {
        let event = row.row.event
        self.service = service
        position = row.row.place.description
        id = event.id
        type = event.type
        topic = event.topic
        key = event.key
        subject = event.subject
        time = event.time
        let rest = row.microsecondsSinceEpoch - event.time.millisecondsSinceEpoch * 1000
        microseconds = rest == 0 ? nil : rest
        traceparent = row.trace
        data = String(decoding: event.data, as: UTF8.self)
    }

    /// The row; `nil` if its place is invalid.
    var row: ExactRow? {
        guard let place = LogPlace(utf8: Array(position.utf8)) else { return nil }
        return ExactRow(
            row: OutboxRow(
                place: place,
                event: OutboxEvent(
                    id: id,
                    type: type,
                    topicName: topic,
                    key: key,
                    subject: subject,
                    time: time,
                    traceparent: traceparent.flatMap { TraceContext($0) },
                    data: Array(data.utf8)
                )
            ),
            microsecondsSinceEpoch: time.millisecondsSinceEpoch * 1000 + (microseconds ?? 0),
            trace: traceparent
        )
    }
}
