import EventTypes
import Messaging
import Postgres
import StoreAPI

/// The table of transactions.
///
/// Every call is one statement for any number of transactions.
enum TransactionStore {
    private static let columns = """
        t.id, t.original_id, t.version, t.state, t.account_id, t.bundle_id, t.product_id,
        t.product_version, t.product_type, t.quantity, t.storefront, t.price, t.currency,
        t.application_username, t.delivery_plan, t.requested_at, t.purchased_at,
        t.original_purchased_at, t.failure_reason, t.revoked_at, t.approval, t.tax_basis_points,
        t.traceparent, t.reason, t.refunds, t.subscription, t.approval_act, t.shared_from,
        t.awaits_buyer
        """

    /// Draws ids for new transactions.
    static func nextIDs(_ count: Int) -> PostgresReading<[TransactionID]> {
        guard count > 0 else { return PostgresReading(known: []) }
        return PostgresReading(
            "SELECT next_transaction_id() FROM generate_series(1, \(Int64(count)))"
        ) { rows in
            try rows.map { TransactionID(number: try $0.decode(Int64.self)) }
        }
    }

    /// Draws the id of one new transaction.
    static func nextID(on connection: isolated PostgresConnection) throws -> TransactionID {
        guard let id = try connection.read(nextIDs(1)).first else {
            throw PaymentError(.unknownRow)
        }
        return id
    }

    /// The index that lets a key be used once.
    static let keyIndex = "transactions_key"

    /// Writes new transactions.
    ///
    /// The server waits for a request of another process that is using the same key at this moment.
    /// If that one commits, the next statement, or COMMIT, fails because of ``keyIndex``.
    ///
    /// - Parameters:
    ///   - records: The transactions.
    ///   - keys: The keys of the requests that made them; the others have none.
    ///   - connection: A connection in a database transaction.
    /// - Throws: `PostgresError`; `EncodingError`.
    static func insert(
        _ records: [TransactionRecord],
        under keys: [TransactionID: UsedKey] = [:],
        on connection: isolated PostgresConnection
    ) throws {
        guard !records.isEmpty else { return }
        // Every batch writes keys in the same order, so two batches that share keys cannot deadlock.
        let records = keys.isEmpty ? records : ordered(records, by: keys)
        let transactions = records.map(\.transaction)
        // Most batches have one value of each of these.
        let versions = transactions.map { Int32($0.version) }
        let states = transactions.map(\.state.rawValue)
        let bundles = transactions.map(\.bundleID)
        let types = transactions.map(\.productType.rawValue)
        let quantities = transactions.map { Int32($0.quantity) }
        let times = transactions.map(\.requestedAt)
        let reasons = transactions.map(\.reason.rawValue)
        try connection.enqueue(
            """
            INSERT INTO transactions (
                id, original_id, version, state, account_id, bundle_id, product_id,
                product_version, product_type, quantity, storefront, price, currency,
                application_username, delivery_plan, requested_at, purchased_at,
                original_purchased_at, failure_reason, tax_basis_points, traceparent, reason,
                idempotency_key, fingerprint, subscription, shared_from)
            SELECT id, original_id, coalesce(version, \(ifEqual: versions)),
                coalesce(state, \(ifEqual: states)), account_id,
                coalesce(bundle_id, \(ifEqual: bundles)), product_id, product_version,
                coalesce(product_type, \(ifEqual: types)),
                coalesce(quantity, \(ifEqual: quantities)), storefront, price, currency,
                application_username, delivery_plan, coalesce(requested_at, \(ifEqual: times)),
                purchased_at, original_purchased_at, failure_reason, tax_basis_points, traceparent,
                coalesce(reason, \(ifEqual: reasons)), idempotency_key, fingerprint, subscription,
                shared_from
            FROM unnest(
                \(transactions.map(\.id.number)), \(transactions.map(\.originalID.number)),
                \(unlessEqual: versions), \(unlessEqual: states),
                \(transactions.map(\.accountID)), \(unlessEqual: bundles),
                \(transactions.map(\.productID)),
                \(transactions.map { Int32($0.productVersion) }),
                \(unlessEqual: types),
                \(unlessEqual: quantities), \(transactions.map(\.storefront)),
                \(transactions.map(\.price.minorUnits)), \(transactions.map(\.price.currency)),
                \(padded: transactions.map(\.applicationUsername)),
                \(try transactions.map { try DeliveryPlanStore.encode($0.deliveryPlan) }),
                \(unlessEqual: times), \(padded: transactions.map(\.purchasedAt)),
                \(padded: transactions.map(\.originalPurchasedAt)),
                \(padded: transactions.map { $0.failureReason?.rawValue }),
                \(records.map { Int32($0.taxBasisPoints) }),
                \(records.map { StoredTrace($0.traceparent) }),
                \(unlessEqual: reasons),
                \(transactions.map { keys[$0.id]?.idempotencyKey }),
                \(transactions.map { keys[$0.id]?.fingerprint }),
                \(padded: transactions.map { $0.subscription.map(PostgresJSON.init(plain:)) }),
                \(padded: transactions.map { $0.sharedFrom?.number })
            ) AS u (
                id, original_id, version, state, account_id, bundle_id, product_id,
                product_version, product_type, quantity, storefront, price, currency,
                application_username, delivery_plan, requested_at, purchased_at,
                original_purchased_at, failure_reason, tax_basis_points, traceparent, reason,
                idempotency_key, fingerprint, subscription, shared_from)
            """
        )
    }

    private static func ordered(
        _ records: [TransactionRecord],
        by keys: [TransactionID: UsedKey]
    ) -> [TransactionRecord] {
        // Places are sorted, because records are large.
        let marks = records.map(\.transaction).map { transaction in
            (transaction.accountID, keys[transaction.id]?.idempotencyKey.rawValue ?? "")
        }
        return records.indices.sorted { marks[$0] < marks[$1] }.map { records[$0] }
    }

    /// The transactions that requests made under their keys, with the fingerprints of the requests.
    ///
    /// Unused keys are absent.
    static func made(
        under keys: [(accountID: AccountID, idempotencyKey: IdempotencyKey)]
    ) -> PostgresReading<[(accountID: AccountID, key: UsedKey, id: TransactionID)]> {
        guard !keys.isEmpty else { return PostgresReading(known: []) }
        // `LIMIT` keeps it from becoming a join, which may begin with the table and read all of it.
        return PostgresReading(
            """
            SELECT asked.account_id, asked.idempotency_key, used.fingerprint, used.id
            FROM unnest(\(keys.map(\.accountID)), \(keys.map(\.idempotencyKey)))
                AS asked (account_id, idempotency_key)
            CROSS JOIN LATERAL (
                SELECT t.fingerprint, t.id FROM transactions t
                WHERE t.account_id = asked.account_id AND t.idempotency_key = asked.idempotency_key
                LIMIT 1
            ) AS used
            """
        ) { rows in
            try rows.map { row in
                let (account, key, fingerprint, id) = try row.decode(
                    AccountID.self,
                    IdempotencyKey.self,
                    [UInt8].self,
                    Int64.self
                )
                let used = UsedKey(idempotencyKey: key, fingerprint: fingerprint)
                return (account, used, TransactionID(number: id))
            }
        }
    }

    /// Writes the changeable columns of locked transactions.
    static func update(
        _ records: [TransactionRecord],
        on connection: isolated PostgresConnection
    ) throws {
        guard !records.isEmpty else { return }
        let transactions = records.map(\.transaction)
        let versions = transactions.map { Int32($0.version) }
        let states = transactions.map(\.state.rawValue)
        let purchases = transactions.map(\.purchasedAt)
        let reasons = transactions.map(\.reason.rawValue)
        try connection.enqueue(
            """
            UPDATE transactions AS t SET
                original_id = u.original_id, version = coalesce(u.version, \(ifEqual: versions)),
                state = coalesce(u.state, \(ifEqual: states)), price = u.price,
                purchased_at = coalesce(u.purchased_at, \(ifEqual: purchases)),
                original_purchased_at = u.original_purchased_at,
                failure_reason = u.failure_reason, revoked_at = u.revoked_at,
                approval = u.approval, reason = coalesce(u.reason, \(ifEqual: reasons)),
                refunds = u.refunds, subscription = u.subscription,
                approval_act = u.approval_act, awaits_buyer = u.awaits_buyer
            FROM unnest(
                \(transactions.map(\.id.number)), \(transactions.map(\.originalID.number)),
                \(unlessEqual: versions), \(unlessEqual: states),
                \(transactions.map(\.price.minorUnits)), \(unlessEqual: purchases),
                \(transactions.map(\.originalPurchasedAt)),
                \(padded: transactions.map { $0.failureReason?.rawValue }),
                \(padded: transactions.map(\.revokedAt)), \(padded: records.map { $0.approval?.rawValue }),
                \(unlessEqual: reasons),
                \(padded: try transactions.map { try encode($0.refunds) }),
                \(padded: transactions.map { $0.subscription.map(PostgresJSON.init(plain:)) }),
                \(padded: try records.map { try encode($0.approvalAct) }),
                \(padded: transactions.map(\.awaitsBuyer)))
                AS u (id, original_id, version, state, price, purchased_at, original_purchased_at,
                    failure_reason, revoked_at, approval, reason, refunds, subscription,
                    approval_act, awaits_buyer)
            WHERE t.id = u.id
            """
        )
    }

    /// Reads and locks transactions.
    ///
    /// Every batch locks in the order of the ids, so two batches that share some cannot deadlock.
    static func locking(
        _ ids: [TransactionID]
    ) -> PostgresReading<[TransactionID: TransactionRecord]> {
        guard !ids.isEmpty else { return PostgresReading(known: [:]) }
        return PostgresReading(
            """
            SELECT \(unsafe: columns) FROM transactions t
            WHERE t.id = ANY(\(ids.map(\.number))) ORDER BY t.id FOR UPDATE
            """,
            value: records(in:)
        )
    }

    /// Reads transactions.
    static func load(
        _ ids: [TransactionID],
        on connection: isolated PostgresConnection
    ) throws -> [TransactionID: TransactionRecord] {
        guard !ids.isEmpty else { return [:] }
        let rows = try connection.query(
            """
            SELECT \(unsafe: columns) FROM transactions t WHERE t.id = ANY(\(ids.map(\.number)))
            """
        )
        return try records(in: rows)
    }

    /// Reads the terms of paid periods that the next ones repeat.
    static func repeatedTerms(
        of ids: [TransactionID]
    ) -> PostgresReading<[TransactionID: RepeatedTerms]> {
        guard !ids.isEmpty else { return PostgresReading(known: [:]) }
        return PostgresReading(
            """
            SELECT id, application_username, product_version, delivery_plan
            FROM transactions WHERE id = ANY(\(ids.map(\.number)))
            """
        ) { rows in
            var paid: [TransactionID: RepeatedTerms] = [:]
            for row in rows {
                let (id, username, version, plan) = try row.decode(
                    Int64.self,
                    String?.self,
                    Int32.self,
                    PostgresJSON.self
                )
                paid[TransactionID(number: id)] = RepeatedTerms(
                    applicationUsername: username,
                    productVersion: Int(version),
                    deliveryPlan: try DeliveryPlanStore.decode(plan)
                )
            }
            return paid
        }
    }

    /// The purchases that a restore gives back.
    ///
    /// These are the originals of the account's finished, unrefunded purchases in this app, of
    /// products that can be restored at present. Of a subscription it is the newest of its periods.
    ///
    /// A copy by which an offer was redeemed (rule S53) is no period: it is not revoked with the one
    /// that it copies.
    static func restorable(
        _ key: (accountID: AccountID, bundleID: BundleID),
        applicationUsername: String?,
        productIDs: [ProductID]?,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [TransactionRecord] {
        let rows = try connection.query(
            """
            SELECT \(unsafe: columns) FROM transactions t
            WHERE t.id IN (
                    SELECT CASE WHEN bought.product_type = 'autoRenewableSubscription'
                        THEN max(bought.id) ELSE bought.original_id END
                    FROM transactions bought
                    WHERE bought.account_id = \(key.accountID) AND bought.bundle_id = \(key.bundleID)
                        AND bought.product_type IN ('nonConsumable', 'autoRenewableSubscription')
                        AND bought.state = 'purchased' AND bought.finished_at IS NOT NULL
                        AND bought.revoked_at IS NULL
                        AND NOT (bought.product_type = 'autoRenewableSubscription'
                            AND bought.reason = 'ownedAgain')
                        AND (\(applicationUsername as String?) IS NULL
                            OR bought.application_username
                                = \(applicationUsername as String?))
                    GROUP BY bought.original_id, bought.product_type)
                AND t.revoked_at IS NULL
                AND (\(productIDs == nil) OR t.product_id = ANY(\(productIDs ?? [])))
                AND EXISTS (
                    SELECT FROM products p WHERE p.id = t.product_id AND p.is_restorable)
            ORDER BY t.id LIMIT \(Int64(limit))
            """
        )
        return try rows.map { try record(in: $0) }
    }

    /// Records the times at which transactions were finished; the first time counts.
    ///
    /// Only what can be restored is recorded: nothing here depends on the finish of a consumable.
    static func finish(
        _ finished: [(id: TransactionID, at: StoreTime)],
        on connection: isolated PostgresConnection
    ) throws {
        guard !finished.isEmpty else { return }
        let ordered = finished.sorted { $0.id < $1.id }
        try connection.enqueue(
            """
            UPDATE transactions AS t SET finished_at = f.finished_at
            FROM unnest(\(ordered.map(\.id.number)), \(ordered.map(\.at))) AS f (id, finished_at)
            WHERE t.id = f.id AND t.finished_at IS NULL
                AND t.product_type IN ('nonConsumable', 'autoRenewableSubscription')
            """
        )
    }

    private static func encode(_ value: (some Encodable)?) throws -> PostgresJSON? {
        try value.map { try PostgresJSON(encoding: $0) }
    }

    private static func records(
        in rows: PostgresRows
    ) throws -> [TransactionID: TransactionRecord] {
        var records: [TransactionID: TransactionRecord] = [:]
        records.reserveCapacity(rows.count)
        for row in rows {
            let record = try record(in: row)
            records[record.transaction.id] = record
        }
        return records
    }

    private static func record(in row: PostgresRow) throws -> TransactionRecord {
        var columns = try row.columns(29)
        let id = try columns.next(Int64.self)
        let originalID = try columns.next(Int64.self)
        let version = try columns.next(Int32.self)
        let state = try columns.next(String.self)
        let account = try columns.next(AccountID.self)
        let bundle = try columns.next(BundleID.self)
        let product = try columns.next(ProductID.self)
        let productVersion = try columns.next(Int32.self)
        let productType = try columns.next(String.self)
        let quantity = try columns.next(Int32.self)
        let storefront = try columns.next(Storefront.self)
        let price = try columns.next(Int64.self)
        let currency = try columns.next(Currency.self)
        let username = try columns.next(String?.self)
        let plan = try columns.next(PostgresJSON.self)
        let requestedAt = try columns.next(StoreTime.self)
        let purchasedAt = try columns.next(StoreTime?.self)
        let originalPurchasedAt = try columns.next(StoreTime?.self)
        let failure = try columns.next(String?.self)
        let revokedAt = try columns.next(StoreTime?.self)
        let approval = try columns.next(String?.self)
        let taxBasisPoints = try columns.next(Int32.self)
        let traceparent = try columns.next(StoredTrace?.self)
        let reason = try columns.next(String.self)
        let refunds = try columns.next(PostgresJSON?.self)
        let period = try columns.next(PostgresJSON?.self)
        let approvalAct = try columns.next(PostgresJSON?.self)
        let sharedFrom = try columns.next(Int64?.self)
        return TransactionRecord(
            transaction: Transaction(
                id: TransactionID(number: id),
                originalID: TransactionID(number: originalID),
                reason: TransactionReason(rawValue: reason),
                version: Int(version),
                state: TransactionState(rawValue: state),
                accountID: account,
                bundleID: bundle,
                productID: product,
                productVersion: Int(productVersion),
                productType: ProductType(rawValue: productType),
                quantity: Int(quantity),
                storefront: storefront,
                price: Money(minorUnits: price, currency: currency),
                applicationUsername: username,
                deliveryPlan: try DeliveryPlanStore.decode(plan),
                requestedAt: requestedAt,
                purchasedAt: purchasedAt,
                originalPurchasedAt: originalPurchasedAt,
                failureReason: failure.map { FailureReason(rawValue: $0) },
                revokedAt: revokedAt,
                refunds: try refunds.map { try $0.decode([Refund].self) },
                subscription: try period.map { try $0.decodePlain(TransactionPeriod.self) },
                sharedFrom: sharedFrom.map(TransactionID.init(number:)),
                awaitsBuyer: try columns.next(Bool?.self)
            ),
            approval: approval.flatMap { ApprovalRequest.Decision(rawValue: $0) },
            approvalAct: try approvalAct.map { try $0.decode(Act.self) },
            taxBasisPoints: Int(taxBasisPoints),
            traceparent: traceparent?.context
        )
    }
}
