import EventTypes
import Postgres

/// The table of members whose shares have to be looked at.
enum FamilyWorkStore {
    /// The types of products that families share.
    private static let sharedTypes: Set<ProductType> = [
        .nonConsumable, .autoRenewableSubscription,
    ]

    /// Notes that purchases have changed which may be shared, in their own database transaction.
    ///
    /// A purchase of an account without a family writes nothing. The statement is sent with others, so
    /// it takes no round trip. It comes before the outbox, as every statement does.
    static func note(
        _ records: [TransactionRecord],
        on connection: isolated PostgresConnection
    ) throws {
        let accounts = Set(
            records.lazy.filter {
                sharedTypes.contains($0.transaction.productType)
                    && $0.transaction.state == .purchased
            }.map(\.accountKey)
        )
        try note(buyers: accounts, on: connection)
    }

    /// Notes the buyers of subscriptions that are in a grace period, are owed or have ended, in the
    /// database transaction that writes them.
    ///
    /// A subscription that is active costs nothing here.
    static func noteUnpaid(
        _ subscriptions: some Sequence<Subscription>,
        on connection: isolated PostgresConnection
    ) throws {
        let unpaid = subscriptions.lazy.filter { $0.state != .active && $0.state != .revoked }
        let accounts = Set(
            unpaid.map { AccountKey(accountID: $0.accountID, bundleID: $0.bundleID) }
        )
        try note(buyers: accounts, on: connection)
    }

    /// Notes those of some accounts that are in a family.
    private static func note(
        buyers accounts: Set<AccountKey>,
        on connection: isolated PostgresConnection
    ) throws {
        guard !accounts.isEmpty else { return }
        let buyers = Array(accounts)
        try connection.enqueue(
            """
            INSERT INTO family_work (account_id, bundle_id)
            SELECT account_id, bundle_id
            FROM unnest(\(buyers.map(\.accountID)), \(buyers.map(\.bundleID)))
                AS buyer (account_id, bundle_id)
            JOIN family_members USING (account_id, bundle_id)
            """
        )
    }

    /// Notes accounts whose family has changed, also those that have left it.
    static func note(
        _ accounts: Set<AccountKey>,
        on connection: isolated PostgresConnection
    ) throws {
        guard !accounts.isEmpty else { return }
        let accounts = Array(accounts)
        try connection.enqueue(
            """
            INSERT INTO family_work (account_id, bundle_id)
            SELECT * FROM unnest(\(accounts.map(\.accountID)), \(accounts.map(\.bundleID)))
            """
        )
    }

    /// Notes the members of all families, because families begin or cease to share a product.
    ///
    /// It does not ask who has bought the product: a purchase that is about to be committed would not
    /// be seen here, and whoever looks at its own note may not see yet that the product has changed.
    static func noteAllMembers(on connection: isolated PostgresConnection) throws {
        try connection.enqueue(
            """
            INSERT INTO family_work (account_id, bundle_id)
            SELECT account_id, bundle_id FROM family_members
            """
        )
    }

    /// Keeps all purchases from being noted until the end of the database transaction.
    ///
    /// A purchase that does not see yet that its buyer is joining a family is thereby committed before
    /// the family is. Whoever looks at the shares of the new member afterwards sees that purchase. It is
    /// taken before every other lock.
    ///
    /// Purchases that come later wait behind it, so it waits a moment only.
    ///
    /// - Throws: `PostgresError` with the code `lockTimeout` if a database transaction that has noted
    ///   something takes longer.
    static func hold(on connection: isolated PostgresConnection) throws {
        try connection.enqueue("SET LOCAL lock_timeout = '200ms'")
        try connection.enqueue("LOCK TABLE family_work IN SHARE ROW EXCLUSIVE MODE")
        try connection.execute("SET LOCAL lock_timeout TO DEFAULT")
    }

    /// Takes the work of one account.
    ///
    /// - Parameters:
    ///   - left: Accounts that are left alone.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The account; `nil` if there is none that nobody else has taken.
    /// - Throws: `PostgresError`.
    static func take(
        besides left: Set<AccountKey>,
        on connection: isolated PostgresConnection
    ) throws -> AccountKey? {
        let left = Array(left)
        return try connection.query(
            """
            WITH first AS (
                SELECT account_id, bundle_id FROM family_work
                WHERE (account_id, bundle_id) NOT IN (
                    SELECT * FROM unnest(\(left.map(\.accountID)), \(left.map(\.bundleID))))
                ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
            ), taken AS (
                SELECT w.id, account_id, bundle_id FROM family_work w
                JOIN first USING (account_id, bundle_id) FOR UPDATE OF w SKIP LOCKED
            ), gone AS (
                DELETE FROM family_work w USING taken WHERE w.id = taken.id
            )
            SELECT account_id, bundle_id FROM first
            """
        ).first.map(account(in:))
    }

    /// Takes the work of an account, as far as nobody else has taken it.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The account; `nil` if there is none of its work.
    /// - Throws: `PostgresError`.
    static func take(
        of account: AccountKey,
        on connection: isolated PostgresConnection
    ) throws -> AccountKey? {
        try connection.query(
            """
            WITH taken AS (
                SELECT id FROM family_work
                WHERE account_id = \(account.accountID) AND bundle_id = \(account.bundleID)
                FOR UPDATE SKIP LOCKED
            ), gone AS (
                DELETE FROM family_work w USING taken WHERE w.id = taken.id
            )
            SELECT FROM taken
            """
        ).isEmpty ? nil : account
    }

    /// Finds the account whose work is the next to be taken, without taking it.
    ///
    /// - Parameters:
    ///   - left: Accounts that are left alone.
    ///   - connection: A connection.
    /// - Returns: The account; `nil` if there is none.
    /// - Throws: `PostgresError`.
    static func next(
        besides left: Set<AccountKey>,
        on connection: isolated PostgresConnection
    ) throws -> AccountKey? {
        let left = Array(left)
        return try connection.query(
            """
            SELECT account_id, bundle_id FROM family_work
            WHERE (account_id, bundle_id) NOT IN (
                SELECT * FROM unnest(\(left.map(\.accountID)), \(left.map(\.bundleID))))
            ORDER BY id LIMIT 1
            """
        ).first.map(account(in:))
    }

    private static func account(in row: PostgresRow) throws -> AccountKey {
        let (account, bundle) = try row.decode(AccountID.self, BundleID.self)
        return AccountKey(accountID: account, bundleID: bundle)
    }
}
