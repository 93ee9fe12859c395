import EventTypes
import Messaging
import Postgres
import StoreTracing

/// The table of requests to extend all subscribers of a product.
enum MassExtensionStore {
    private static let columns = "data, traceparent, last_id, looked_at_id, cardinality(left_ids)"

    /// Writes a new request, whose number and last subscription the database decides.
    ///
    /// - Returns: The request; `nil` if there is one with this identifier for the product.
    static func insert(
        _ request: MassExtension,
        by act: Act?,
        traceparent: TraceContext?,
        on connection: isolated PostgresConnection
    ) throws -> MassExtensionRecord? {
        let act = try act.map { try PostgresJSON(encoding: $0) }
        let rows = try connection.query(
            """
            INSERT INTO mass_extensions
                (bundle_id, product_id, request_identifier, data, act, traceparent, last_id)
            VALUES (\(request.bundleID), \(request.productID), \(request.requestIdentifier),
                \(try PostgresJSON(encoding: request)), \(act as PostgresJSON?),
                \(StoredTrace(traceparent) as StoredTrace?),
                (SELECT coalesce(max(id), 0) FROM subscriptions))
            ON CONFLICT (bundle_id, product_id, request_identifier) DO NOTHING
            RETURNING number, last_id
            """
        )
        return try rows.first.map { row in
            let (number, last) = try row.decode(Int64.self, Int64.self)
            var request = request
            request.number = number
            let record = MassExtensionRecord(
                request: request,
                traceparent: traceparent,
                lastID: last
            )
            try save(record, on: connection)
            return record
        }
    }

    /// Reads the request with an identifier for a product of an app; `nil` if there is none.
    static func load(
        _ identifier: String,
        of product: ProductID,
        in bundle: BundleID,
        on connection: isolated PostgresConnection
    ) throws -> MassExtensionRecord? {
        try records(
            in: connection.query(
                """
                SELECT \(unsafe: columns) FROM mass_extensions
                WHERE bundle_id = \(bundle) AND product_id = \(product)
                    AND request_identifier = \(identifier)
                """
            )
        ).first
    }

    /// Reads the numbers of the requests that are not complete, the oldest first.
    static func openNumbers(on connection: isolated PostgresConnection) throws -> [Int64] {
        try connection.query(
            "SELECT number FROM mass_extensions WHERE completed_at IS NULL ORDER BY number"
        ).map { try $0.decode(Int64.self) }
    }

    /// Reads and locks a request; `nil` if it is complete, or if somebody else has locked it.
    static func takeOpen(
        _ number: Int64,
        on connection: isolated PostgresConnection
    ) throws -> MassExtensionRecord? {
        try records(
            in: connection.query(
                """
                SELECT \(unsafe: columns) FROM mass_extensions
                WHERE number = \(number) AND completed_at IS NULL FOR UPDATE SKIP LOCKED
                """
            )
        ).first
    }

    /// Writes how far a request has come.
    static func save(
        _ record: MassExtensionRecord,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            UPDATE mass_extensions SET data = \(try PostgresJSON(encoding: record.request)),
                looked_at_id = \(record.lookedAtID),
                completed_at = \(record.request.completedAt as StoreTime?)
            WHERE number = \(record.request.number)
            """
        )
    }

    /// Writes a request as an event says, in a database that is rebuilt.
    static func restore(
        _ request: MassExtension,
        by act: Act?,
        on shadow: isolated PostgresConnection
    ) throws {
        let act = try act.map { try PostgresJSON(encoding: $0) }
        try shadow.execute(
            """
            INSERT INTO mass_extensions (number, bundle_id, product_id, request_identifier, data,
                act, last_id, completed_at)
            VALUES (\(request.number), \(request.bundleID), \(request.productID),
                \(request.requestIdentifier), \(try PostgresJSON(encoding: request)),
                \(act as PostgresJSON?), 0, \(request.completedAt as StoreTime?))
            ON CONFLICT (number) DO UPDATE
            SET data = excluded.data, completed_at = excluded.completed_at
            """
        )
        // The next request gets the next number.
        _ = try shadow.query(
            """
            SELECT setval(pg_get_serial_sequence('mass_extensions', 'number'), max(number))
            FROM mass_extensions
            """
        )
    }

    /// A part of the subscriptions, in the order of their ids.
    struct Page: Hashable, Sendable {
        /// The running subscriptions of the request among them.
        var keys: [SubscriptionKey]
        /// The ids of the same subscriptions, in their order.
        var ids: [TransactionID] = []
        /// The last subscription of the page; `nil` if there are no more.
        var lastID: Int64?
    }

    /// Reads the next page of the subscriptions that a request may be about.
    ///
    /// It looks at a fixed number of rows, so a page of a product with few subscribers costs no more
    /// than any other. The rows are not locked.
    static func page(
        of record: MassExtensionRecord,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> Page {
        let request = record.request
        let storefronts = (request.storefronts ?? []).map(\.rawValue)
        let rows = try connection.query(
            """
            SELECT id, account_id, bundle_id, group_id,
                state IN ('active', 'inGracePeriod', 'inBillingRetryPeriod')
                    AND bundle_id = \(request.bundleID)
                    AND data -> 'period' -> 'product' ->> 'id' = \(request.productID)
                    AND (cardinality(\(storefronts)) = 0
                        OR data ->> 'storefront' = ANY(\(storefronts)))
            FROM subscriptions
            WHERE id > \(record.lookedAtID) AND id <= \(record.lastID)
            ORDER BY id LIMIT \(Int64(limit))
            """
        )
        var page = Page(keys: [])
        for row in rows {
            let (id, account, bundle, group, isMeant) = try row.decode(
                Int64.self,
                AccountID.self,
                BundleID.self,
                SubscriptionGroupID.self,
                Bool.self
            )
            page.lastID = id
            if isMeant {
                page.ids.append(TransactionID(number: id))
                page.keys.append(
                    SubscriptionKey(accountID: account, bundleID: bundle, groupID: group)
                )
            }
        }
        return page
    }

    /// Reads the subscriptions of an open request that could not be extended because of a broken row.
    static func leftIDs(
        of number: Int64,
        on connection: isolated PostgresConnection
    ) throws -> [TransactionID] {
        try connection.query(
            """
            SELECT unnest(left_ids) FROM mass_extensions
            WHERE number = \(number) AND completed_at IS NULL
            """
        ).map { TransactionID(number: try $0.decode(Int64.self)) }
    }

    /// Notes that a subscription waits because of a broken row, or that it does so no more.
    static func note(
        _ id: TransactionID,
        isLeft: Bool,
        of number: Int64,
        on connection: isolated PostgresConnection
    ) throws {
        let added = isLeft ? [id.number] : []
        try connection.execute(
            """
            UPDATE mass_extensions SET left_ids = array_remove(left_ids, \(id.number)) || \(added)
            WHERE number = \(number)
            """
        )
    }

    private static func records(in rows: PostgresRows) throws -> [MassExtensionRecord] {
        try rows.map { row in
            let (data, traceparent, last, lookedAt, leftCount) = try row.decode(
                PostgresJSON.self,
                StoredTrace?.self,
                Int64.self,
                Int64.self,
                Int32.self
            )
            return MassExtensionRecord(
                request: try data.decode(MassExtension.self),
                traceparent: traceparent?.context,
                lastID: last,
                lookedAtID: lookedAt,
                leftCount: Int(leftCount)
            )
        }
    }
}
