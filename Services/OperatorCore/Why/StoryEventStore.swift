import EventTypes
import Messaging
import Postgres
import Seals
import StoreTracing

/// The SQL of a purchase's story that reads the event log of a service.
enum StoryEventStore {
    /// Reads a service's events about a transaction.
    ///
    /// The condition on the time excludes whole months of the log, with a day of tolerance for
    /// clocks. The events are sorted after they are found, because an ordered scan would read the
    /// whole log.
    static func events(
        of id: TransactionID,
        since time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> [StoryEvent] {
        let others = [EventType.accountChanged, .queueAccountChanged, .queueSubscriptionChanged]
        let acts = [
            EventType.transactionApproved, .transactionFailed, .transactionRefunded,
            .transactionRefundReversed, .refundRequestChanged,
        ].map(\.rawValue)
        let rows = try connection.query(
            """
            WITH found AS MATERIALIZED (
                SELECT event_id, type, topic, key, time, traceparent, xid, position,
                    CASE WHEN type = \(EventType.subscriptionChanged.rawValue)
                        THEN unpacked_json(data)::json END AS change,
                    CASE WHEN type = ANY(\(acts))
                        THEN unpacked_json(data)::json -> 'act' END AS act,
                    CASE WHEN type = \(EventType.refundRequestChanged.rawValue)
                        THEN unpacked_json(data)::json -> 'request' END AS request
                FROM outbox
                WHERE subject = \(id.rawValue) AND time >= \(time.advanced(by: .seconds(-86_400)))
                    AND type <> ALL(\(others.map(\.rawValue)))
                LIMIT 1000
            )
            SELECT found.event_id, found.type, found.topic, found.key, found.xid, found.position,
                found.time, found.traceparent,
                (found.xid, found.position) <= (relay.xid, relay.position), found.change,
                found.act, found.request
            FROM found, relay_place relay ORDER BY found.xid, found.position
            """
        )
        return try rows.map { row in
            let (
                event, type, topic, key, xid, position, time, trace, isPublished, change, act,
                request
            ) = try row.decode(
                EventID.self,
                String.self,
                String.self,
                String.self,
                UInt64.self,
                Int64.self,
                StoreTime.self,
                StoredTrace?.self,
                Bool.self,
                PostgresJSON?.self,
                PostgresJSON?.self,
                PostgresJSON?.self
            )
            return StoryEvent(
                id: event,
                type: EventType(rawValue: type),
                topic: topic,
                key: key,
                place: LogPlace(xid: xid, position: position),
                time: time,
                traceID: trace?.context?.traceID.description,
                isPublished: isPublished,
                change: try change.map {
                    try EventCoding.decode(SubscriptionChanged.self, from: $0.bytes)
                },
                act: try act.map { try $0.decode(Act.self) },
                request: try request.map { try $0.decode(RequestedRefund.self) }
            )
        }
    }
}
