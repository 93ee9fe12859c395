import EventTypes
import Messaging
import Postgres
import StoreAPI
import Subscriptions

/// The table of subscriptions, which has one row for each account in each group of an app.
///
/// The row's lock comes before those of transactions, always in the order of the keys.
enum SubscriptionStore {
    /// The columns that ``rows(in:)`` reads.
    static let columns = """
        s.account_id, s.bundle_id, s.group_id, s.data, s.payment_method,
        (SELECT (t.settings ->> 'hasGracePeriod')::boolean FROM test_settings t
            WHERE t.account_id = s.account_id AND t.bundle_id = s.bundle_id),
        s.introductory_transaction, s.id
        """

    /// Makes the rows of places where no subscription has begun.
    static func open(
        _ keys: Set<SubscriptionKey>,
        on connection: isolated PostgresConnection
    ) throws {
        guard !keys.isEmpty else { return }
        let ordered = keys.sorted()
        try connection.enqueue(
            """
            INSERT INTO subscriptions (account_id, bundle_id, group_id)
            SELECT * FROM unnest(
                \(ordered.map(\.accountID)), \(ordered.map(\.bundleID)), \(ordered.map(\.groupID)))
            ON CONFLICT (account_id, bundle_id, group_id) DO NOTHING
            """
        )
    }

    /// Reads subscriptions without locking them.
    static func reading(_ keys: Set<SubscriptionKey>) -> PostgresReading<[SubscriptionRow]> {
        select(keys, "")
    }

    /// Reads and locks subscriptions.
    static func locking(_ keys: Set<SubscriptionKey>) -> PostgresReading<[SubscriptionRow]> {
        select(keys, "FOR UPDATE OF s")
    }

    /// Reads a subscription without locking it.
    static func reading(_ id: TransactionID) -> PostgresReading<[SubscriptionRow]> {
        select(id, "")
    }

    /// Reads and locks a subscription.
    static func locking(_ id: TransactionID) -> PostgresReading<[SubscriptionRow]> {
        select(id, "FOR UPDATE OF s")
    }

    private static func select(
        _ id: TransactionID,
        _ lock: String
    ) -> PostgresReading<[SubscriptionRow]> {
        PostgresReading(
            "SELECT \(unsafe: columns) FROM subscriptions s WHERE s.id = \(id.number) \(unsafe: lock)",
            value: rows(in:)
        )
    }

    /// The subscriptions of an account in an app, in the order of their ids.
    static func load(
        of key: AccountKey,
        on connection: isolated PostgresConnection
    ) throws -> [Subscription] {
        try rows(
            in: connection.query(
                """
                SELECT \(unsafe: columns) FROM subscriptions s
                WHERE s.account_id = \(key.accountID) AND s.bundle_id = \(key.bundleID)
                    AND s.id IS NOT NULL
                ORDER BY s.id
                """
            )
        ).compactMap(\.subscription)
    }

    /// A page of all subscriptions, or of those in a state, in the order of their ids.
    static func page(
        in state: SubscriptionState?,
        after id: TransactionID?,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [Subscription] {
        let name = state?.rawValue
        return try rows(
            in: connection.query(
                """
                SELECT \(unsafe: columns) FROM subscriptions s
                WHERE s.id > \(id?.number ?? 0) AND (\(name as String?) IS NULL OR s.state = \(name as String?))
                ORDER BY s.id LIMIT \(Int64(limit))
                """
            )
        ).compactMap(\.subscription)
    }

    private static func select(
        _ keys: Set<SubscriptionKey>,
        _ lock: String
    ) -> PostgresReading<[SubscriptionRow]> {
        guard !keys.isEmpty else { return PostgresReading(known: []) }
        let ordered = keys.sorted()
        return PostgresReading(
            """
            SELECT \(unsafe: columns) FROM subscriptions s
            JOIN unnest(
                \(ordered.map(\.accountID)), \(ordered.map(\.bundleID)), \(ordered.map(\.groupID))
            ) AS k (account_id, bundle_id, group_id) USING (account_id, bundle_id, group_id)
            ORDER BY s.account_id, s.bundle_id, s.group_id \(unsafe: lock)
            """,
            value: rows(in:)
        )
    }

    /// Reads and locks the subscriptions that transactions belong to.
    static func locking(of ids: [TransactionID]) -> PostgresReading<[SubscriptionRow]> {
        guard !ids.isEmpty else { return PostgresReading(known: []) }
        return PostgresReading(
            """
            SELECT \(unsafe: columns) FROM subscriptions s
            WHERE (s.account_id, s.bundle_id, s.group_id) IN (
                SELECT t.account_id, t.bundle_id, t.subscription -> 'terms' ->> 'groupID'
                FROM transactions t
                WHERE t.id = ANY(\(ids.map(\.number))) AND t.subscription IS NOT NULL)
            ORDER BY s.account_id, s.bundle_id, s.group_id FOR UPDATE
            """,
            value: rows(in:)
        )
    }

    /// Reads and locks the subscriptions that renewals pay for.
    ///
    /// Their original transaction is the id of the subscription, so nothing of their periods is parsed.
    static func locking(ofRenewals ids: [TransactionID]) -> PostgresReading<[SubscriptionRow]> {
        guard !ids.isEmpty else { return PostgresReading(known: []) }
        return PostgresReading(
            """
            SELECT \(unsafe: columns) FROM subscriptions s
            WHERE s.id IN (
                SELECT t.original_id FROM transactions t WHERE t.id = ANY(\(ids.map(\.number))))
            ORDER BY s.account_id, s.bundle_id, s.group_id FOR UPDATE
            """,
            value: rows(in:)
        )
    }

    /// Reads and locks the subscriptions of an account whose newest renewal could not be charged.
    ///
    /// One that is still active owes nothing, but a try before the end of its period has failed.
    static func lockingOwed(by key: AccountKey) -> PostgresReading<[SubscriptionRow]> {
        PostgresReading(
            """
            SELECT \(unsafe: columns) FROM subscriptions s
            WHERE s.account_id = \(key.accountID) AND s.bundle_id = \(key.bundleID)
                AND (s.state IN ('inGracePeriod', 'inBillingRetryPeriod') OR s.state = 'active'
                    AND s.data ->> 'renewalProblem' IN ('billing', 'buyerMustAct'))
            ORDER BY s.account_id, s.bundle_id, s.group_id FOR UPDATE OF s
            """,
            value: rows(in:)
        )
    }

    /// Reads the ids of the next subscriptions, whatever they are about.
    ///
    /// It reads nothing else of them, so a damaged row does not end it.
    ///
    /// - Parameters:
    ///   - id: The subscription after which to begin.
    ///   - last: The last subscription to read; `nil` if there is no such limit.
    ///   - limit: The most subscriptions.
    ///   - connection: A connection.
    /// - Returns: The ids, in their order.
    /// - Throws: `PostgresError`.
    static func ids(
        after id: TransactionID,
        through last: TransactionID? = nil,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [TransactionID] {
        try connection.query(
            """
            SELECT id FROM subscriptions
            WHERE id > \(id.number) AND id <= \(last?.number ?? Int64.max)
            ORDER BY id LIMIT \(Int64(limit))
            """
        ).map { TransactionID(number: try $0.decode(Int64.self)) }
    }

    /// Writes locked subscriptions, each with its next due action.
    ///
    /// - Parameters:
    ///   - rows: The subscriptions.
    ///   - documents: The JSON of those that are encoded already.
    ///   - rules: The rules for due actions.
    ///   - connection: A connection in a database transaction.
    /// - Throws: `PostgresError`.
    static func save(
        _ rows: [SubscriptionRow],
        encodedAs documents: [SubscriptionKey: [UInt8]] = [:],
        by rules: DueActionRules,
        on connection: isolated PostgresConnection
    ) throws {
        var (known, new): ([SubscriptionRow], [SubscriptionRow]) = ([], [])
        for row in rows {
            guard let id = row.subscription?.id else { continue }
            if id.number == row.storedID { known.append(row) } else { new.append(row) }
        }
        try save(known, areKnown: true, documents, by: rules, on: connection)
        try save(new, areKnown: false, documents, by: rules, on: connection)
    }

    /// Writes subscriptions, which are found by their ids if they are known, and else by their keys.
    ///
    /// An id is compared much faster than the three texts of a key.
    private static func save(
        _ rows: [SubscriptionRow],
        areKnown: Bool,
        _ documents: [SubscriptionKey: [UInt8]],
        by rules: DueActionRules,
        on connection: isolated PostgresConnection
    ) throws {
        guard !rows.isEmpty else { return }
        let keys = areKnown ? [] : rows.map(\.key)
        let place = (areKnown ? ["id"] : ["account_id", "bundle_id", "group_id"])
            .map { "s.\($0) = u.\($0)" }.joined(separator: " AND ")
        let subscriptions = rows.compactMap(\.subscription)
        let due = subscriptions.map(rules.next(for:))
        let data = zip(rows, subscriptions).map { row, subscription in
            PostgresJSON(bytes: documents[row.key] ?? subscription.json)
        }
        // Most batches have one value of each of these.
        let versions = subscriptions.map { Int32($0.version) }
        let states = subscriptions.map(\.state.rawValue)
        let kinds = due.map { $0.map { Int32($0.kind.rawValue) } }
        let begun = subscriptions.map(\.charge?.startedAt)
        let tries = subscriptions.map { Int32($0.attempts) }
        try connection.enqueue(
            """
            UPDATE subscriptions AS s SET
                id = u.id, version = coalesce(u.version, \(ifEqual: versions)),
                state = coalesce(u.state, \(ifEqual: states)), data = u.data,
                payment_method = coalesce(u.payment_method, s.payment_method),
                due_at = u.due_at, due_kind = coalesce(u.due_kind, \(ifEqual: kinds)),
                charging_since = coalesce(u.charging_since, \(ifEqual: begun)),
                tries = coalesce(u.tries, \(ifEqual: tries))
            FROM unnest(
                \(keys.map(\.accountID)), \(keys.map(\.bundleID)), \(keys.map(\.groupID)),
                \(subscriptions.map(\.id.number)), \(unlessEqual: versions), \(unlessEqual: states),
                \(data), \(rows.map(\.paymentMethod?.rawValue)),
                \(due.map { $0?.time }), \(unlessEqual: kinds), \(unlessEqual: begun), \(unlessEqual: tries))
                AS u (account_id, bundle_id, group_id, id, version, state, data, payment_method,
                    due_at, due_kind, charging_since, tries)
            WHERE \(unsafe: place)
            """
        )
    }

    /// Writes the payment method of a locked subscription.
    static func set(
        _ method: PaymentMethod,
        of key: SubscriptionKey,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            UPDATE subscriptions SET payment_method = \(method.rawValue)
            WHERE account_id = \(key.accountID) AND bundle_id = \(key.bundleID)
                AND group_id = \(key.groupID)
            """
        )
    }

    /// Writes which transactions locked rows have noted for their introductory offers.
    static func saveIntroductions(
        _ rows: [SubscriptionRow],
        on connection: isolated PostgresConnection
    ) throws {
        guard !rows.isEmpty else { return }
        let keys = rows.map(\.key)
        try connection.enqueue(
            """
            UPDATE subscriptions AS s SET introductory_transaction = u.transaction_id
            FROM unnest(
                \(keys.map(\.accountID)), \(keys.map(\.bundleID)), \(keys.map(\.groupID)),
                \(rows.map { $0.introductoryID?.number }))
                AS u (account_id, bundle_id, group_id, transaction_id)
            WHERE s.account_id = u.account_id AND s.bundle_id = u.bundle_id
                AND s.group_id = u.group_id
            """
        )
    }

    /// Reads rows of ``columns``.
    static func rows(in rows: PostgresRows) throws -> [SubscriptionRow] {
        try rows.map { row in
            let (account, bundle, group, data, method, hasGrace, introductory, id) = try row.decode(
                AccountID.self,
                BundleID.self,
                SubscriptionGroupID.self,
                PostgresJSON?.self,
                String?.self,
                Bool?.self,
                Int64?.self,
                Int64?.self
            )
            return SubscriptionRow(
                key: SubscriptionKey(accountID: account, bundleID: bundle, groupID: group),
                subscription: try data.map { try $0.decodePlain(Subscription.self) },
                paymentMethod: method.map { PaymentMethod(rawValue: $0) },
                hasGrace: hasGrace,
                introductoryID: introductory.map(TransactionID.init(number:)),
                storedID: id
            )
        }
    }
}
