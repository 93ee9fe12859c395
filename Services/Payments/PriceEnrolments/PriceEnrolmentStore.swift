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
                is_withdrawn = false, reached_id = 0, is_finished = false
            WHERE (e.price, e.currency, e.effective_at, e.is_withdrawn)
                IS DISTINCT FROM
                (excluded.price, excluded.currency, excluded.effective_at, false)
            """
        )
        try connection.execute(
            """
            UPDATE price_enrolments AS e SET
                is_withdrawn = true, begun_at = n.time, reached_id = 0, is_finished = false
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

    /// Takes the oldest open enrolment that nobody else works at.
    static func take(on connection: isolated PostgresConnection) throws -> PriceEnrolment? {
        try connection.query(
            """
            SELECT product_id, storefront, price, currency, effective_at, is_withdrawn, reached_id
            FROM price_enrolments WHERE NOT is_finished
            ORDER BY begun_at, product_id, storefront LIMIT 1 FOR UPDATE SKIP LOCKED
            """
        ).first.map { row in
            let (product, storefront, price, currency, time, isWithdrawn, reached) = try row.decode(
                ProductID.self,
                Storefront.self,
                Int64.self,
                Currency.self,
                StoreTime.self,
                Bool.self,
                Int64.self
            )
            return PriceEnrolment(
                productID: product,
                storefront: storefront,
                price: Money(minorUnits: price, currency: currency),
                effectiveAt: time,
                isWithdrawn: isWithdrawn,
                reachedID: TransactionID(number: reached)
            )
        }
    }

    /// Notes how far an enrolment is.
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
                reached_id = \(id?.number ?? enrolment.reachedID.number), is_finished = \(id == nil)
            WHERE product_id = \(enrolment.productID) AND storefront = \(enrolment.storefront)
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
