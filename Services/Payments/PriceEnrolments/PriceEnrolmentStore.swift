import EventTypes
import Postgres

/// The table of higher prices that subscribers are told of, and how far that is.
enum PriceEnrolmentStore {
    /// Follows the catalog: begins what new versions of products schedule, and ends what they do not
    /// schedule any more.
    ///
    /// A version that is older than the stored one changes nothing. A price that was in force at the time
    /// of a version stays with those who were told, unless the version sets a lower one.
    ///
    /// - Parameters:
    ///   - products: The products, each with the time of its change.
    ///   - connection: A connection in a database transaction, which has written the products.
    /// - Throws: `PostgresError`.
    static func follow(
        _ products: [(product: Product, time: StoreTime)],
        on connection: isolated PostgresConnection
    ) throws {
        let changed = products.filter { $0.product.type == .autoRenewableSubscription }
        guard !changed.isEmpty else { return }
        let raises = changed.flatMap { product, time in
            product.priceChanges.filter { $0.value.existingSubscribers == .raise }
                .sorted { $0.key < $1.key }.map { (product, $0.key, $0.value, time) }
        }
        let prices = changed.flatMap { product, time in
            product.inForce(at: time).prices.sorted { $0.key < $1.key }
                .map { (product.id, $0.key, $0.value) }
        }
        try connection.execute(
            """
            INSERT INTO price_enrolments AS e
                (product_id, storefront, price, currency, effective_at, begun_at)
            SELECT r.product_id, r.storefront, r.price, r.currency, r.effective_at, r.begun_at
            FROM unnest(
                \(raises.map(\.0.id)), \(raises.map { Int32($0.0.version) }), \(raises.map(\.1)),
                \(raises.map(\.2.price.minorUnits)), \(raises.map(\.2.price.currency)),
                \(raises.map(\.2.from)), \(raises.map(\.3)))
                AS r (product_id, version, storefront, price, currency, effective_at, begun_at)
            JOIN products p ON p.id = r.product_id AND p.version = r.version
            ON CONFLICT (product_id, storefront) DO UPDATE SET
                price = excluded.price, currency = excluded.currency,
                effective_at = excluded.effective_at, begun_at = excluded.begun_at,
                is_withdrawn = false, reached_id = 0, is_finished = false, left_ids = '{}'
            WHERE (e.price, e.currency, e.effective_at, e.is_withdrawn)
                IS DISTINCT FROM
                (excluded.price, excluded.currency, excluded.effective_at, false)
            """
        )
        try connection.execute(
            """
            UPDATE price_enrolments AS e SET
                is_withdrawn = true, begun_at = n.time, reached_id = 0, is_finished = false,
                left_ids = '{}'
            FROM unnest(
                \(changed.map(\.product.id)), \(changed.map { Int32($0.product.version) }),
                \(changed.map(\.time))) AS n (product_id, version, time)
            JOIN products p ON p.id = n.product_id AND p.version = n.version
            WHERE e.product_id = n.product_id AND NOT e.is_withdrawn
                AND NOT EXISTS (
                    SELECT FROM unnest(\(raises.map(\.0.id)), \(raises.map(\.1)))
                        AS r (product_id, storefront)
                    WHERE r.product_id = e.product_id AND r.storefront = e.storefront)
                AND NOT (e.effective_at <= n.time AND EXISTS (
                    SELECT FROM unnest(
                        \(prices.map(\.0)), \(prices.map(\.1)),
                        \(prices.map(\.2.minorUnits)), \(prices.map(\.2.currency)))
                        AS f (product_id, storefront, price, currency)
                    WHERE f.product_id = e.product_id AND f.storefront = e.storefront
                        AND f.currency = e.currency AND f.price >= e.price))
            """
        )
    }

    /// Reads the places of the open enrolments, the oldest first.
    static func openKeys(
        on connection: isolated PostgresConnection
    ) throws -> [PriceEnrolment.Key] {
        try connection.query(
            """
            SELECT product_id, storefront FROM price_enrolments WHERE NOT is_finished
            ORDER BY begun_at, product_id, storefront
            """
        ).map { row in
            let (product, storefront) = try row.decode(ProductID.self, Storefront.self)
            return PriceEnrolment.Key(productID: product, storefront: storefront)
        }
    }

    /// Reads and locks an enrolment; `nil` if it is finished, or if somebody else works at it.
    static func take(
        _ key: PriceEnrolment.Key,
        on connection: isolated PostgresConnection
    ) throws -> PriceEnrolment? {
        try connection.query(
            """
            SELECT price, currency, effective_at, is_withdrawn, reached_id,
                cardinality(left_ids)
            FROM price_enrolments
            WHERE product_id = \(key.productID) AND storefront = \(key.storefront)
                AND NOT is_finished
            FOR UPDATE SKIP LOCKED
            """
        ).first.map { row in
            let (price, currency, time, isWithdrawn, reached, leftCount) = try row.decode(
                Int64.self,
                Currency.self,
                StoreTime.self,
                Bool.self,
                Int64.self,
                Int32.self
            )
            return PriceEnrolment(
                key: key,
                price: Money(minorUnits: price, currency: currency),
                effectiveAt: time,
                isWithdrawn: isWithdrawn,
                reachedID: TransactionID(number: reached),
                leftCount: Int(leftCount)
            )
        }
    }

    /// A part of the subscriptions, in the order of their ids.
    struct Page: Hashable, Sendable {
        /// The subscriptions among them that the enrolment is about.
        var keys: Set<SubscriptionKey>
        /// The ids of the same subscriptions, in their order.
        var ids: [TransactionID] = []
        /// The last subscription of the page; `nil` if there are no more.
        var lastID: TransactionID?
    }

    /// Reads the next page of the subscriptions that an enrolment is about
    /// (``PriceEnrolmentRules/event(of:for:at:)``).
    ///
    /// The others are looked at in the database, and not read. No index knows which product a
    /// subscription renews as. So the number of rows that are looked at is limited, too: a page of a
    /// product with few subscribers does not last long. A page of one with many ends with the last of
    /// them, and no JSON behind it is looked at. The rows are not locked.
    ///
    /// - Parameters:
    ///   - enrolment: The enrolment.
    ///   - limit: The most subscriptions that it is about.
    ///   - lookMax: The most subscriptions to look at.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The page.
    /// - Throws: `PostgresError`.
    static func page(
        of enrolment: PriceEnrolment,
        limit: Int,
        lookMax: Int,
        on connection: isolated PostgresConnection
    ) throws -> Page {
        let product =
            enrolment.isWithdrawn
            ? "data -> 'priceIncrease' ->> 'productID'"
            : "coalesce(data -> 'pendingProduct' ->> 'id', data -> 'period' -> 'product' ->> 'id')"
        let rows = try connection.query(
            """
            (SELECT id, account_id, bundle_id, group_id, true FROM (
                    SELECT id, account_id, bundle_id, group_id,
                        state IN ('active', 'inGracePeriod', 'inBillingRetryPeriod')
                            AND data ->> 'storefront' = \(enrolment.key.storefront)
                            AND \(unsafe: product) = \(enrolment.key.productID) AS is_meant
                    FROM subscriptions WHERE id > \(enrolment.reachedID.number)
                    ORDER BY id LIMIT \(Int64(lookMax))
                ) AS looked
                WHERE is_meant ORDER BY id LIMIT \(Int64(limit)))
            UNION ALL
            (SELECT id, account_id, bundle_id, group_id, false FROM (
                    SELECT id, account_id, bundle_id, group_id FROM subscriptions
                    WHERE id > \(enrolment.reachedID.number) ORDER BY id LIMIT \(Int64(lookMax))
                ) AS passed
                ORDER BY id DESC LIMIT 1)
            """
        )
        var page = Page(keys: [])
        var lastMeant: Int64 = 0
        for row in rows {
            let (id, account, bundle, group, isMeant) = try row.decode(
                Int64.self,
                AccountID.self,
                BundleID.self,
                SubscriptionGroupID.self,
                Bool.self
            )
            guard isMeant else {
                page.lastID = TransactionID(number: id)
                continue
            }
            lastMeant = max(lastMeant, id)
            page.ids.append(TransactionID(number: id))
            page.keys.insert(
                SubscriptionKey(accountID: account, bundleID: bundle, groupID: group)
            )
        }
        // Behind a full page there may be more of them among the rows that were looked at.
        if page.keys.count == limit { page.lastID = TransactionID(number: lastMeant) }
        return page
    }

    /// The subscriptions of an enrolment that could not be told, and that nobody has told since.
    static func leftIDs(
        of key: PriceEnrolment.Key,
        on connection: isolated PostgresConnection
    ) throws -> [TransactionID] {
        try connection.query(
            """
            SELECT unnest(left_ids) FROM price_enrolments
            WHERE product_id = \(key.productID) AND storefront = \(key.storefront)
                AND NOT is_finished
            """
        ).map { TransactionID(number: try $0.decode(Int64.self)) }
    }

    /// Notes that a subscription could not be told, or that it is told now.
    ///
    /// - Parameters:
    ///   - id: The subscription.
    ///   - isLeft: Whether it could not be told.
    ///   - enrolment: The enrolment, which is locked.
    ///   - connection: A connection in a database transaction.
    /// - Throws: `PostgresError`.
    static func note(
        _ id: TransactionID,
        isLeft: Bool,
        of enrolment: PriceEnrolment,
        on connection: isolated PostgresConnection
    ) throws {
        let added = isLeft ? [id.number] : []
        try connection.execute(
            """
            UPDATE price_enrolments SET left_ids = array_remove(left_ids, \(id.number)) || \(added)
            WHERE product_id = \(enrolment.key.productID)
                AND storefront = \(enrolment.key.storefront)
            """
        )
    }

    /// Notes how far an enrolment is.
    ///
    /// It is finished after the last subscription, once all are told.
    ///
    /// - Parameters:
    ///   - id: The last subscription that was looked at; `nil` if there are no more.
    ///   - enrolment: The enrolment, which is locked.
    ///   - connection: A connection in a database transaction.
    /// - Throws: `PostgresError`.
    static func reach(
        _ id: TransactionID?,
        of enrolment: PriceEnrolment,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            UPDATE price_enrolments SET
                reached_id = \(id?.number ?? enrolment.reachedID.number),
                is_finished = \(id == nil) AND cardinality(left_ids) = 0
            WHERE product_id = \(enrolment.key.productID)
                AND storefront = \(enrolment.key.storefront)
            """
        )
    }

    /// The time at which the oldest open enrolment began; `nil` if there is none.
    static func oldest(on connection: isolated PostgresConnection) throws -> StoreTime? {
        try connection.query("SELECT min(begun_at) FROM price_enrolments WHERE NOT is_finished")
            .first?.decode(StoreTime?.self)
    }

    /// The number of open enrolments that began by a time.
    static func count(
        begunBy time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> Int64 {
        try connection.query(
            """
            SELECT count(*) FROM price_enrolments WHERE NOT is_finished AND begun_at <= \(time)
            """
        ).first?.decode(Int64.self) ?? 0
    }
}
