import EventTypes
import Messaging
import Postgres
import Subscriptions

/// The SQL of subscriptions for which it is time to act.
enum DueSubscriptionStore {
    /// Reads and locks the subscriptions whose action is due, in the order of rule S417.
    ///
    /// Those that somebody else has locked are skipped. The lock is the lease: an action only writes
    /// in the database transaction that holds it.
    ///
    /// - Parameters:
    ///   - time: The store's time.
    ///   - limit: The most subscriptions.
    ///   - left: Subscriptions that are left alone.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The rows.
    /// - Throws: `PostgresError`, or an error of a row that cannot be read.
    static func take(
        at time: StoreTime,
        limit: Int,
        besides left: Set<TransactionID> = [],
        on connection: isolated PostgresConnection
    ) throws -> [SubscriptionRow] {
        try SubscriptionStore.rows(
            in: connection.query(
                """
                SELECT \(unsafe: SubscriptionStore.columns) FROM subscriptions s
                WHERE s.due_at <= \(time) AND s.id <> ALL (\(left.map(\.number)))
                ORDER BY s.due_at, s.due_kind, s.id
                LIMIT \(Int64(limit)) FOR UPDATE SKIP LOCKED
                """
            )
        )
    }

    /// Reads and locks one subscription, if its action is due and nobody else has locked it.
    static func take(
        _ id: TransactionID,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> [SubscriptionRow] {
        try SubscriptionStore.rows(
            in: connection.query(
                """
                SELECT \(unsafe: SubscriptionStore.columns) FROM subscriptions s
                WHERE s.id = \(id.number) AND s.due_at <= \(time) FOR UPDATE SKIP LOCKED
                """
            )
        )
    }

    /// The ids of the subscriptions whose action is due, in the order in which they are taken.
    ///
    /// It reads nothing else of them, so it also names those whose content cannot be read. Nothing is
    /// locked.
    static func ids(
        at time: StoreTime,
        limit: Int,
        besides left: Set<TransactionID>,
        on connection: isolated PostgresConnection
    ) throws -> [TransactionID] {
        try connection.query(
            """
            SELECT id FROM subscriptions
            WHERE due_at <= \(time) AND id <> ALL (\(left.map(\.number)))
            ORDER BY due_at, due_kind, id LIMIT \(Int64(limit))
            """
        ).map { TransactionID(number: try $0.decode(Int64.self)) }
    }

    /// The times of the oldest open work of each kind, if there is any among the next due actions.
    ///
    /// A charge whose outcome is not known is open since it was begun, unless it waits for its buyer,
    /// who may leave. Only the actions that are due first are looked at, so the cost does not grow with
    /// the number of subscriptions. The earliest of all is always among them.
    ///
    /// It is one statement, so it sees each subscription in one kind of work. The end of a period
    /// turns into a repeated charge; two statements could miss both.
    static func next(
        on connection: isolated PostgresConnection
    ) throws -> [DueWork: StoreTime] {
        let rows = try connection.query(
            """
            WITH next AS MATERIALIZED (
                SELECT due_at, due_kind, tries FROM subscriptions WHERE due_at IS NOT NULL
                ORDER BY due_at, due_kind, id LIMIT 256
            ), awaited AS MATERIALIZED (\(unsafe: awaitedCharges))
            SELECT \(unsafe: DueWork.allCases.map(oldest).joined(separator: ", "))
            """
        )
        guard let row = rows.first else { return [:] }
        let (renewals, repeated, notices, ends) = try row.decode(
            StoreTime?.self,
            StoreTime?.self,
            StoreTime?.self,
            StoreTime?.self
        )
        let times = zip(DueWork.allCases, [renewals, repeated, notices, ends])
        return times.reduce(into: [:]) { due, work in due[work.0] = work.1 }
    }

    /// The expression for the oldest open work of a kind.
    private static func oldest(_ work: DueWork) -> String {
        """
        least((SELECT min(due_at) FROM next WHERE \(condition(of: work))),
            (SELECT min(charging_since) FROM subscriptions
                WHERE charging_since IS NOT NULL AND \(openCharges(of: work))
                    AND id <> ALL (ARRAY(SELECT id FROM awaited))))
        """
    }

    /// The subscriptions whose open charge waits for its buyer.
    ///
    /// A purchase that waits belongs to no subscription yet. Such an attempt is always due some time, so
    /// only the open ones are looked at. `LIMIT` keeps it from becoming a join, which may read all
    /// transactions. An array keeps the index of the open charges in use.
    private static let awaitedCharges = """
        SELECT owed.original_id AS id FROM processor_attempts a
        CROSS JOIN LATERAL (
            SELECT t.original_id FROM transactions t WHERE t.id = a.transaction_id LIMIT 1
        ) AS owed
        WHERE a.due_at IS NOT NULL AND a.step = 'awaiting_action'
        """

    /// The condition for rows whose due action is work of a kind.
    private static func condition(of work: DueWork) -> String {
        let kinds = DueAction.Kind.allCases.filter { kind in
            switch work {
            case .renewals, .repeatedCharges: kind.isCharge
            case .priceNotices: kind == .priceIncrease
            case .ends: kind.isEnd
            }
        }
        let isKind = "due_kind IN (\(kinds.map { "\($0.rawValue)" }.joined(separator: ", ")))"
        return switch work {
        case .renewals: isKind + " AND tries = 0"
        case .repeatedCharges: isKind + " AND tries > 0"
        case .priceNotices, .ends: isKind
        }
    }

    /// The condition for rows whose open charge is work of a kind.
    private static func openCharges(of work: DueWork) -> String {
        switch work {
        case .renewals: "tries = 1"
        case .repeatedCharges: "tries > 1"
        case .priceNotices, .ends: "false"
        }
    }
}
