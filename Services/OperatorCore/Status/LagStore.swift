import EventTypes
import Messaging
import Postgres
import Seals

/// The SQL that finds the events consumers have yet to act on, from the producers' logs and the
/// consumers' places.
///
/// The broker is not asked: its offsets say only what was fetched, and some brokers count them
/// wrong.
enum LagStore {
    /// A place in an outbox.
    struct Place: Hashable, Sendable {
        var xid: UInt64
        var position: Int64
    }

    /// An event that a consumer has to act on.
    struct Candidate: Sendable {
        let entry: AppliedEvents.Entry
        let time: StoreTime
    }

    /// A section of a log.
    struct Page: Sendable {
        /// The events that the consumer has to act on.
        let candidates: [Candidate]
        /// The number of all events in the section.
        let length: Int
        let end: Place
    }

    /// The place up to which every consumer of a producer has confirmed everything.
    static func confirmed(on connection: isolated PostgresConnection) throws -> Place {
        let rows = try connection.query(
            "SELECT confirmed_xid, confirmed_position FROM relay_place"
        )
        guard let row = rows.first else { return Place(xid: 0, position: 0) }
        let (xid, position) = try row.decode(UInt64.self, Int64.self)
        return Place(xid: xid, position: position)
    }

    /// The next events of a producer, published or not.
    static func page(
        after place: Place,
        of topic: Topic,
        for consumer: String,
        length: Int,
        on connection: isolated PostgresConnection
    ) throws -> Page {
        let acted = ServiceName(rawValue: consumer).map(Topics.eventTypes) ?? []
        let types = acted.map(\.rawValue)
        let rows = try connection.query(
            """
            SELECT event_id, key, time, xid, position, topic = \(topic.name) AND type = ANY(\(types))
            FROM outbox WHERE (xid, position) > (\(place.xid), \(place.position))
            ORDER BY xid, position LIMIT \(Int64(length))
            """
        )
        var candidates: [Candidate] = []
        var end = place
        for row in rows {
            let (id, key, time, xid, position, isOwed) = try row.decode(
                EventID.self,
                String.self,
                StoreTime.self,
                UInt64.self,
                Int64.self,
                Bool.self
            )
            end = Place(xid: xid, position: position)
            guard isOwed else { continue }
            let entry = AppliedEvents.Entry(
                id: id,
                topic: topic.name,
                key: key,
                place: LogPlace(xid: xid, position: position)
            )
            candidates.append(Candidate(entry: entry, time: time))
        }
        return Page(candidates: candidates, length: rows.count, end: end)
    }

    /// The events that a consumer has neither applied nor recorded as dead letters.
    static func open(
        _ candidates: [Candidate],
        consumer: String,
        on connection: isolated PostgresConnection
    ) throws -> [Candidate] {
        let entries = candidates.map(\.entry)
        let done = try AppliedEvents.among(entries, by: consumer, on: connection)
        let unapplied = entries.map(\.id).filter { !done.contains($0) }
        let letters = try connection.query(
            """
            SELECT event_id FROM dead_letters
            WHERE consumer = \(consumer) AND event_id = ANY(\(unapplied))
            """
        ).map { try $0.decode(EventID.self) }
        let open = Set(unapplied).subtracting(letters)
        return candidates.filter { open.contains($0.entry.id) }
    }
}
