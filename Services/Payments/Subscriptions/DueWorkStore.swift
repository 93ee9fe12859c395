import EventTypes
import Messaging
import Postgres
import Subscriptions

/// The kinds of work that fall due for subscriptions, as an advance of the store's clock reports them.
enum DueWork: String, CaseIterable, Sendable {
    /// First tries to charge for a next period.
    case renewals
    /// Tries after one that failed.
    case repeatedCharges = "repeated charges"
    /// Questions about higher prices, and notices of them.
    case priceNotices = "price notices"
    /// Ends of periods, of grace and of billing retry.
    case ends = "ended periods"

    /// The kind of an action of a subscription.
    init(_ action: DueAction.Kind, of subscription: Subscription) {
        switch action {
        case .priceIncrease: self = .priceNotices
        case .renewalCharge, .retryCharge:
            self = subscription.attempts == 0 ? .renewals : .repeatedCharges
        case .periodEnd, .graceEnd, .retryEnd: self = .ends
        }
    }
}

/// The SQL that tells since when work for subscriptions is open.
enum DueWorkStore {
    /// The times of the oldest open work of each kind, if there is any among the next due actions.
    ///
    /// A charge whose outcome is not known is open since it was begun, unless it waits for its buyer,
    /// who may leave. Only the actions that are due first are looked at, so the cost does not grow with
    /// the number of subscriptions. The earliest of all is always among them.
    ///
    /// It is one statement, so it sees each subscription in one kind of work. The end of a period
    /// turns into a repeated charge; two statements could miss both.
    static func nextDue(
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
