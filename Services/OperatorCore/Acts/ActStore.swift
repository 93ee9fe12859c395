import EventArchive
import EventTypes
import Messaging
import Postgres
import Seals

/// The SQL that lists acts, newest first.
enum ActStore {
    /// The most acts that a page looks at to find those of one person or account.
    static let lookedAtMax: Int64 = 5000

    /// The condition of the index of acts: the data contains `"decidedBy":`.
    private static let isAct = "position('\\x22646563696465644279223a'::bytea IN data) > 0"

    /// Acts in the log of `payments`.
    ///
    /// The first condition is that of an index, so a page costs the same in a log of any length.
    static func aboutBuyers(
        _ query: ActQuery,
        lookedAtMax: Int64 = lookedAtMax,
        on connection: isolated PostgresConnection
    ) throws -> [RecordedAct] {
        let before = place(query.before)
        let rows = try connection.query(
            """
            SELECT type, key, subject, time, xid, position, unpacked_json(data)::json FROM (
                SELECT type, key, subject, time, xid, position, data FROM outbox
                WHERE \(unsafe: isAct)
                    AND type = ANY(\(query.kind.eventTypes.map(\.rawValue)))
                    AND (xid, position) < (\(before.xid), \(before.position))
                ORDER BY xid DESC, position DESC LIMIT \(lookedAtMax)
            ) AS acts
            WHERE (\(query.key) = '' OR key = \(query.key))
                AND (\(query.administrator) = '' OR
                    unpacked_json(data)::json -> 'act' ->> 'decidedBy' = \(query.administrator))
            ORDER BY xid DESC, position DESC LIMIT \(Int64(query.limit + 1))
            """
        )
        return try rows.compactMap { row in
            let (name, key, subject, time, xid, position, data) = try row.decode(
                String.self,
                String.self,
                String.self,
                StoreTime.self,
                UInt64.self,
                Int64.self,
                PostgresJSON.self
            )
            let type = EventType(rawValue: name)
            guard let about = self.subject(subject, of: type) else { return nil }
            let found: (act: Act, words: String)?
            switch type {
            case .subscriptionChanged:
                let change = try EventCoding.decode(SubscriptionChanged.self, from: data.bytes)
                found = ActWords.act(in: change)
            case .refundRequestChanged:
                let change = try EventCoding.decode(RefundRequestChanged.self, from: data.bytes)
                found = ActWords.act(in: change)
            case .massExtensionChanged:
                let change = try EventCoding.decode(MassExtensionChanged.self, from: data.bytes)
                found = ActWords.act(in: change)
            case .accountChanged:
                let change = try EventCoding.decode(AccountChanged.self, from: data.bytes)
                found = ActWords.act(in: change)
            case .familyChanged:
                let change = try EventCoding.decode(FamilyChanged.self, from: data.bytes)
                found = ActWords.act(in: change)
            default:
                let change = try EventCoding.decode(TransactionChanged.self, from: data.bytes)
                found = ActWords.act(in: change, of: type)
            }
            guard let found else { return nil }
            return RecordedAct(
                act: found.act,
                time: "\(time)",
                subject: about,
                words: found.words,
                key: key,
                place: "\(LogPlace(xid: xid, position: position))"
            )
        }
    }

    /// The thing that an event of `payments` is about; `nil` if its id is none.
    private static func subject(_ text: String, of type: EventType) -> RecordedAct.Subject? {
        switch type {
        case .massExtensionChanged: ProductID(rawValue: text).map { .product($0) }
        case .familyChanged: FamilyID(rawValue: text).map { .family($0) }
        case .accountChanged: AccountID(rawValue: text).map { .account($0) }
        case .subscriptionChanged: TransactionID(rawValue: text).map { .subscription($0) }
        default: TransactionID(rawValue: text).map { .purchase($0) }
        }
    }

    /// The place of the last act that a page has looked at.
    ///
    /// - Returns: `nil` if there are no further acts.
    static func lookedAt(
        _ query: ActQuery,
        lookedAtMax: Int64 = lookedAtMax,
        on connection: isolated PostgresConnection
    ) throws -> String? {
        let before = place(query.before)
        // Every event of the catalog is an act.
        let isAct = query.kind == .products ? "true" : Self.isAct
        return try connection.query(
            """
            SELECT xid, position FROM outbox
            WHERE \(unsafe: isAct)
                AND type = ANY(\(query.kind.eventTypes.map(\.rawValue)))
                AND (xid, position) < (\(before.xid), \(before.position))
            ORDER BY xid DESC, position DESC LIMIT 1 OFFSET \(lookedAtMax - 1)
            """
        ).first.map { row in
            let (xid, position) = try row.decode(UInt64.self, Int64.self)
            return "\(LogPlace(xid: xid, position: position))"
        }
    }

    /// The last month whose acts have left the database; `nil` if all are there.
    static func archivedMonth(on connection: isolated PostgresConnection) throws -> String? {
        try LogArchiveStore.dropped(on: connection).map(\.month).max().map { "\($0)" }
    }

    /// Changes in the log of `catalog`; every event of it is an act.
    static func aboutProducts(
        _ query: ActQuery,
        lookedAtMax: Int64 = lookedAtMax,
        on connection: isolated PostgresConnection
    ) throws -> [RecordedAct] {
        let before = place(query.before)
        return try connection.query(
            """
            SELECT type, key, time, xid, position, unpacked_json(data)::json FROM (
                SELECT type, key, time, xid, position, data FROM outbox
                WHERE type = ANY(\(query.kind.eventTypes.map(\.rawValue)))
                    AND (xid, position) < (\(before.xid), \(before.position))
                ORDER BY xid DESC, position DESC LIMIT \(lookedAtMax)
            ) AS acts
            WHERE (\(query.key) = '' OR key = \(query.key))
                AND (\(query.administrator) = '' OR
                    unpacked_json(data)::json ->> 'changedBy' = \(query.administrator))
            ORDER BY xid DESC, position DESC LIMIT \(Int64(query.limit + 1))
            """
        ).compactMap { row in
            let (type, key, time, xid, position, data) = try row.decode(
                String.self,
                String.self,
                StoreTime.self,
                UInt64.self,
                Int64.self,
                PostgresJSON.self
            )
            let author: String?
            var reason: ActReason?
            let subject: RecordedAct.Subject
            let words: String
            if type == EventType.productChanged.rawValue {
                let change = try EventCoding.decode(ProductChanged.self, from: data.bytes)
                author = change.changedBy
                reason = change.reason
                subject = .product(change.product.id)
                let version = change.product.version
                words =
                    version == 1
                    ? "made \(change.product.id)"
                    : "changed \(change.product.id) to version \(version)"
            } else {
                let change = try EventCoding.decode(SubscriptionGroupChanged.self, from: data.bytes)
                author = change.changedBy
                subject = .group(change.group.id)
                words = "named the group \(change.group.id)"
            }
            guard let name = author.flatMap({ AdministratorName(rawValue: $0) }) else { return nil }
            return RecordedAct(
                act: Act(decidedBy: name, reason: reason),
                time: "\(time)",
                subject: subject,
                words: words,
                key: key,
                place: "\(LogPlace(xid: xid, position: position))"
            )
        }
    }

    /// Decisions about the dead letters of one service.
    static func aboutDeadLetters(
        of service: OperatedService,
        _ query: ActQuery,
        on connection: isolated PostgresConnection
    ) throws -> [(place: ActPlace, act: RecordedAct)] {
        let before = query.before.flatMap { ActPlace($0) } ?? .end
        let rank = ActPlace.rank(of: service)
        // The index has the time itself, so the page compares with that.
        return try connection.query(
            """
            SELECT (extract(epoch FROM coalesce(settled_at, redrive_requested_at, recorded_at))
                * 1000000)::bigint, id, key, type, state, act
            FROM dead_letters
            WHERE act IS NOT NULL
                AND (coalesce(settled_at, redrive_requested_at, recorded_at), id) < (
                    timestamptz '1970-01-01 00:00Z'
                        + \(before.moment)::float8 * interval '1 microsecond',
                    \(before.bound(of: rank))::bigint)
                AND (\(query.key) = '' OR key = \(query.key))
                AND (\(query.administrator) = '' OR act ->> 'decidedBy' = \(query.administrator))
            ORDER BY coalesce(settled_at, redrive_requested_at, recorded_at) DESC, id DESC
            LIMIT \(Int64(query.limit + 1))
            """
        ).map { row in
            let (micros, id, key, type, state, act) = try row.decode(
                Int64.self,
                Int64.self,
                String.self,
                String.self,
                String.self,
                PostgresJSON.self
            )
            let place = ActPlace(micros: micros, rank: rank, id: id)
            let time = MachineTime(millisecondsSinceEpoch: micros / 1000)
            let recorded = RecordedAct(
                act: try act.decode(Act.self),
                time: "\(time)",
                subject: .deadLetter(service, id),
                words: ActWords.words(for: state, type: type),
                key: key,
                place: "\(place)"
            )
            return (place, recorded)
        }
    }

    /// The place before which a page of a log begins.
    private static func place(_ text: String?) -> (xid: UInt64, position: Int64) {
        let place = text.flatMap { LogPlace(utf8: Array($0.utf8)) }
        return place.map { ($0.xid, $0.position) } ?? (UInt64.max, Int64.max)
    }
}
