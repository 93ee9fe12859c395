import EventTypes
import Messaging
import Postgres

/// The SQL of the App Store Server API: histories, app transactions and account tokens.
struct ServerAPIStore: Sendable {
    /// The owner, the original and the reason of a transaction.
    struct TransactionOrigin: Hashable, Sendable {
        var owner: OwnerKey
        var originalID: TransactionID
        var reason: TransactionReason
    }

    /// A receipt as it is stored.
    struct StoredReceipt: Hashable, Sendable {
        var leafSHA256: [UInt8]
        var header: String
        var payload: [UInt8]
        var signature: [UInt8]
    }

    // MARK: Changes

    /// Locks the histories of accounts until the end of the database transaction, always in the
    /// same order, and gives an app transaction to accounts that have none.
    ///
    /// - Parameters:
    ///   - owners: The accounts in their apps.
    ///   - now: The time at which new accounts are first seen.
    ///   - connection: A connection with an open database transaction.
    /// - Returns: The app transaction of each account.
    /// - Throws: `PostgresError`.
    func lock(
        _ owners: Set<OwnerKey>,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> [OwnerKey: Int64] {
        var locked = try lockKnown(owners, on: connection)
        let new = Array(owners.filter { locked[$0] == nil })
        guard !new.isEmpty else { return locked }
        try connection.enqueue(
            """
            INSERT INTO app_transactions (account_id, bundle_id, first_seen_at)
            SELECT account_id, bundle_id, \(now)
            FROM unnest(\(new.map(\.account)), \(new.map(\.bundle)))
                AS seen (account_id, bundle_id)
            ORDER BY account_id COLLATE "C", bundle_id COLLATE "C"
            ON CONFLICT (account_id, bundle_id) DO NOTHING
            """
        )
        // Another instance may have inserted some of them first.
        locked.merge(try lockKnown(Set(new), on: connection)) { $1 }
        return locked
    }

    private func lockKnown(
        _ owners: Set<OwnerKey>,
        on connection: isolated PostgresConnection
    ) throws -> [OwnerKey: Int64] {
        let owners = Array(owners)
        // Not a join: PostgreSQL would read the whole table for a large batch.
        let rows = try connection.query(
            """
            SELECT account_id, bundle_id, app_transaction_id
            FROM (
                SELECT * FROM unnest(\(owners.map(\.account)), \(owners.map(\.bundle)))
                    AS owner (account_id, bundle_id)
                ORDER BY account_id COLLATE "C", bundle_id COLLATE "C"
            ) AS wanted CROSS JOIN LATERAL (
                SELECT app_transaction_id FROM app_transactions AS known
                WHERE known.account_id = wanted.account_id AND known.bundle_id = wanted.bundle_id
                FOR NO KEY UPDATE
            ) AS locked
            """
        )
        var locked: [OwnerKey: Int64] = [:]
        for row in rows {
            let (account, bundle, id) = try row.decode(AccountID.self, BundleID.self, Int64.self)
            locked[OwnerKey(account: account, bundle: bundle)] = id
        }
        return locked
    }

    /// Draws positions for changes of accounts that are locked, in rising order.
    ///
    /// They are drawn after the lock, so that positions of an account rise in commit order.
    func positions(_ count: Int) -> PostgresReading<[Int64]> {
        PostgresReading(
            """
            SELECT nextval('history_positions') FROM generate_series(1, \(Int64(count)))
            """
        ) { rows in
            try rows.map { try $0.decode(Int64.self) }
        }
    }

    /// Returns the account tokens that servers have set.
    func accountTokens(
        of originals: Set<TransactionID>
    ) -> PostgresReading<[TransactionID: String]> {
        PostgresReading(
            """
            SELECT original_transaction_id, app_account_token FROM app_account_tokens
            WHERE original_transaction_id = ANY(\(originals.map(\.number)))
            """
        ) { rows in
            var tokens: [TransactionID: String] = [:]
            for row in rows {
                let (number, token) = try row.decode(Int64.self, String.self)
                tokens[TransactionID(number: number)] = token
            }
            return tokens
        }
    }

    /// Sets the account token of a purchase.
    func setAccountToken(
        _ token: String,
        of original: TransactionID,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.enqueue(
            """
            INSERT INTO app_account_tokens (original_transaction_id, app_account_token, set_at)
            VALUES (\(original.number), \(token), \(now))
            ON CONFLICT (original_transaction_id) DO UPDATE
                SET app_account_token = excluded.app_account_token, set_at = excluded.set_at
            """
        )
    }

    /// Returns at most `limit` payloads of a transaction and of all that name it as their original,
    /// ordered by number, after `last`.
    func payloads(
        of original: TransactionID,
        after last: TransactionID?,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [(id: TransactionID, payload: [UInt8])] {
        try connection.query(
            """
            SELECT transaction_id, payload FROM signed_transactions
            WHERE transaction_id = \(original.number) AND transaction_id > \(last?.number ?? 0)
            UNION ALL
            SELECT transaction_id, payload FROM signed_transactions
            WHERE original_transaction_id = \(original.number)
                AND transaction_id <> original_transaction_id
                AND transaction_id > \(last?.number ?? 0)
            ORDER BY transaction_id LIMIT \(Int64(limit))
            """
        ).map { row in
            let (number, payload) = try row.decode(Int64.self, [UInt8].self)
            return (TransactionID(number: number), try PackedPayload.unpacked(payload))
        }
    }

    /// Replaces signatures with new ones, each at its new position in the history.
    func replace(
        _ signed: [(id: TransactionID, content: SignedContent, position: Int64)],
        chainNumber: Int32,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.enqueue(
            """
            UPDATE signed_transactions AS receipt
            SET signed_at = new.signed_at, signing_chain = \(chainNumber), payload = new.payload,
                signature = new.signature, history_position = new.history_position
            FROM unnest(
                \(signed.map(\.id.number)), \(signed.map(\.content.signedAt)),
                \(signed.map { PackedPayload.packed($0.content.payload) }),
                \(signed.map(\.content.signature)),
                \(signed.map(\.position))
            ) AS new (transaction_id, signed_at, payload, signature, history_position)
            WHERE receipt.transaction_id = new.transaction_id
            """
        )
    }

    // MARK: Reads

    /// Returns the owner and original of a transaction, or `nil` if it has no receipt.
    func origin(
        of transaction: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> TransactionOrigin? {
        try connection.query(
            """
            SELECT account_id, bundle_id, original_transaction_id, reason
            FROM signed_transactions JOIN app_transactions USING (app_transaction_id)
            WHERE transaction_id = \(transaction.number)
            """
        ).first.map { row in
            let (account, bundle, original, reason) = try row.decode(
                AccountID.self,
                BundleID.self,
                Int64.self,
                String.self
            )
            return TransactionOrigin(
                owner: OwnerKey(account: account, bundle: bundle),
                originalID: TransactionID(number: original),
                reason: TransactionReason(rawValue: reason)
            )
        }
    }

    /// Returns the owner of an app transaction, or `nil` if there is none.
    func owner(
        ofAppTransaction number: Int64,
        on connection: isolated PostgresConnection
    ) throws -> OwnerKey? {
        try connection.query(
            """
            SELECT account_id, bundle_id FROM app_transactions
            WHERE app_transaction_id = \(number)
            """
        ).first.map { row in
            let (account, bundle) = try row.decode(AccountID.self, BundleID.self)
            return OwnerKey(account: account, bundle: bundle)
        }
    }

    /// Returns an account's app transaction, and the time at which it was first seen.
    func appTransaction(
        of owner: OwnerKey,
        on connection: isolated PostgresConnection
    ) throws -> (id: Int64, firstSeenAt: StoreTime)? {
        try connection.query(
            """
            SELECT app_transaction_id, first_seen_at FROM app_transactions
            WHERE account_id = \(owner.account) AND bundle_id = \(owner.bundle)
            """
        ).first.map { row in
            let (id, firstSeenAt) = try row.decode(Int64.self, StoreTime.self)
            return (id, firstSeenAt)
        }
    }

    /// Returns the position of the transaction that changed last, or 0 if there is none.
    func newestPosition(
        of owner: OwnerKey,
        on connection: isolated PostgresConnection
    ) throws -> Int64 {
        try connection.query(
            """
            SELECT history_position FROM signed_transactions
            WHERE app_transaction_id = (
                SELECT app_transaction_id FROM app_transactions
                WHERE account_id = \(owner.account) AND bundle_id = \(owner.bundle)
            )
            ORDER BY history_position DESC LIMIT 1
            """
        ).first.map { try $0.decode(Int64.self) } ?? 0
    }

    /// Returns the next rows of a history.
    ///
    /// - Parameters:
    ///   - owner: The account and app of the history.
    ///   - cursor: The position to begin after. The row there is not included.
    ///   - floor: In descending order, the position to end before. The row there is not included.
    ///   - order: The order of the rows.
    ///   - onlyRefunded: Whether to return only transactions with a refund that was not reversed.
    ///   - withGroups: Whether to read the groups of subscriptions, which only payloads contain.
    ///   - withOwnership: Whether to read which transactions a family shares, which only payloads
    ///     contain.
    ///   - limit: The largest number of rows.
    ///   - connection: A connection.
    /// - Returns: The rows, in order.
    /// - Throws: `PostgresError`.
    func rows(
        of owner: OwnerKey,
        from cursor: Int64,
        downTo floor: Int64,
        _ order: HistoryQuery.Order,
        onlyRefunded: Bool,
        withGroups: Bool = false,
        withOwnership: Bool = false,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [HistoryPage.Row] {
        let columns = """
            transaction_id, history_position, product_id, product_type, purchased_at,
            revoked_at IS NOT NULL, standing_refunds IS NOT NULL, product_type = 'consumable' AND EXISTS (
                SELECT FROM transaction_finishes AS finish
                WHERE finish.transaction_id = receipt.transaction_id
            ), \(withOwnership ? "payload" : withGroups
                ? "CASE WHEN product_type = 'autoRenewableSubscription' THEN payload END"
                : "NULL::bytea")
            """
        let refunded = onlyRefunded ? "AND standing_refunds IS NOT NULL" : ""
        let sql: SQL =
            switch order {
            case .ascending:
                """
                SELECT \(unsafe: columns) FROM signed_transactions AS receipt
                WHERE app_transaction_id = (
                    SELECT app_transaction_id FROM app_transactions
                    WHERE account_id = \(owner.account) AND bundle_id = \(owner.bundle)
                )
                    AND history_position > \(cursor) \(unsafe: refunded)
                ORDER BY history_position LIMIT \(Int64(limit))
                """
            case .descending:
                """
                SELECT \(unsafe: columns) FROM signed_transactions AS receipt
                WHERE app_transaction_id = (
                    SELECT app_transaction_id FROM app_transactions
                    WHERE account_id = \(owner.account) AND bundle_id = \(owner.bundle)
                )
                    AND history_position < \(cursor) AND history_position > \(floor)
                    \(unsafe: refunded)
                ORDER BY history_position DESC LIMIT \(Int64(limit))
                """
            }
        return try connection.query(sql).map(historyRow)
    }

    private func historyRow(_ row: PostgresRow) throws -> HistoryPage.Row {
        let (
            number, position, product, type, purchasedAt, isRevoked, isRefunded, isFinished,
            payload
        ) = try row.decode(
            Int64.self,
            Int64.self,
            ProductID.self,
            String.self,
            StoreTime.self,
            Bool.self,
            Bool.self,
            Bool.self,
            [UInt8]?.self
        )
        let entry = try payload.map {
            try AppReceiptEntry(payload: PackedPayload.unpacked($0))
        }
        return HistoryPage.Row(
            transactionID: TransactionID(number: number),
            position: position,
            candidate: HistoryQuery.Candidate(
                productID: product,
                productType: ProductType(rawValue: type),
                subscriptionGroup: entry?.subscriptionGroupIdentifier,
                isFamilyShared: entry?.inAppOwnershipType == "FAMILY_SHARED",
                purchasedAt: purchasedAt,
                isRevoked: isRevoked,
                isRefunded: isRefunded,
                isFinished: isFinished
            )
        )
    }

    /// Returns stored receipts, in the order of `ids`.
    func receipts(
        _ ids: [TransactionID],
        on connection: isolated PostgresConnection
    ) throws -> [StoredReceipt] {
        guard !ids.isEmpty else { return [] }
        return try connection.query(
            """
            SELECT chain.leaf_sha256, chain.header, receipt.payload, receipt.signature
            FROM unnest(\(ids.map(\.number))) WITH ORDINALITY AS wanted (transaction_id, ordinal)
            JOIN signed_transactions AS receipt USING (transaction_id)
            JOIN signing_chains AS chain ON chain.number = receipt.signing_chain
            ORDER BY wanted.ordinal
            """
        ).map { row in
            let (leaf, header, payload, signature) = try row.decode(
                [UInt8].self,
                String.self,
                [UInt8].self,
                [UInt8].self
            )
            return StoredReceipt(
                leafSHA256: leaf,
                header: header,
                payload: try PackedPayload.unpacked(payload),
                signature: signature
            )
        }
    }
}
