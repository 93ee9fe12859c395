import EventTypes
import Messaging
import Postgres

/// The table of accounts; also reads accounts with their intents.
///
/// Every change of an account locks its row first, so its versions rise in commit order.
enum AccountStore {
    /// The standings of accounts; accounts that are not in the table are absent.
    static func standings(
        of keys: Set<AccountKey>
    ) -> PostgresReading<[AccountKey: AccountStanding]> {
        guard !keys.isEmpty else { return PostgresReading(known: [:]) }
        let keys = Array(keys)
        return PostgresReading(
            """
            SELECT account_id, bundle_id, can_make_payments, storefront
            FROM unnest(\(keys.map(\.accountID)), \(keys.map(\.bundleID)))
                AS asked (account_id, bundle_id)
            JOIN accounts USING (account_id, bundle_id)
            """
        ) { rows in
            var standings: [AccountKey: AccountStanding] = [:]
            for row in rows {
                let (account, bundle, canMakePayments, storefront) = try row.decode(
                    AccountID.self,
                    BundleID.self,
                    Bool.self,
                    Storefront?.self
                )
                standings[AccountKey(accountID: account, bundleID: bundle)] = AccountStanding(
                    canMakePayments: canMakePayments,
                    storefront: storefront
                )
            }
            return standings
        }
    }

    /// Locks the accounts that exist, until the end of the database transaction.
    ///
    /// All callers lock in the same order, so they cannot deadlock.
    static func lockExisting(
        _ keys: Set<AccountKey>,
        on connection: isolated PostgresConnection
    ) throws {
        guard !keys.isEmpty else { return }
        let keys = Array(keys)
        _ = try connection.query(
            """
            SELECT 1 FROM accounts
            JOIN unnest(\(keys.map(\.accountID)), \(keys.map(\.bundleID)))
                AS wanted (account_id, bundle_id) USING (account_id, bundle_id)
            ORDER BY accounts.account_id, accounts.bundle_id
            FOR UPDATE OF accounts
            """
        )
    }

    /// Locks an account, and inserts its row at version 0 if there is none.
    ///
    /// With `WHERE false`, an existing row is locked but not updated. A caller that changes nothing
    /// rolls back: a row at version 0 has no event, so it must not be committed.
    static func lock(_ key: AccountKey, on connection: isolated PostgresConnection) throws {
        try connection.execute(
            """
            INSERT INTO accounts (account_id, bundle_id) VALUES (\(key.accountID), \(key.bundleID))
            ON CONFLICT (account_id, bundle_id) DO UPDATE SET version = accounts.version WHERE false
            """
        )
    }

    /// Writes an administrator's change of a locked account.
    static func change(_ account: Account, on connection: isolated PostgresConnection) throws {
        try connection.execute(
            """
            UPDATE accounts
            SET can_make_payments = \(account.canMakePayments),
                storefront = \(account.storefront as Storefront?)
            WHERE account_id = \(account.accountID) AND bundle_id = \(account.bundleID)
            """
        )
    }

    /// Gives locked accounts their next version.
    static func raise(
        _ keys: Set<AccountKey>,
        on connection: isolated PostgresConnection
    ) throws {
        guard !keys.isEmpty else { return }
        let keys = Array(keys)
        try connection.execute(
            """
            UPDATE accounts SET version = version + 1
            FROM unnest(\(keys.map(\.accountID)), \(keys.map(\.bundleID)))
                AS changed (account_id, bundle_id)
            WHERE accounts.account_id = changed.account_id
                AND accounts.bundle_id = changed.bundle_id
            """
        )
    }

    /// Reads accounts as they are published, in two statements for any number.
    ///
    /// - Returns: An account for each key, at version 0 if it is not in the table.
    static func load(
        _ keys: Set<AccountKey>,
        on connection: isolated PostgresConnection
    ) throws -> [AccountKey: Account] {
        var accounts: [AccountKey: Account] = [:]
        for key in keys {
            accounts[key] = Account(accountID: key.accountID, bundleID: key.bundleID)
        }
        let asked = Array(keys)
        let rows = try connection.query(
            """
            SELECT account_id, bundle_id, version, can_make_payments, storefront
            FROM unnest(\(asked.map(\.accountID)), \(asked.map(\.bundleID)))
                AS asked (account_id, bundle_id)
            JOIN accounts USING (account_id, bundle_id)
            """
        )
        for row in rows {
            let (account, bundle, version, canMakePayments, storefront) = try row.decode(
                AccountID.self,
                BundleID.self,
                Int32.self,
                Bool.self,
                Storefront?.self
            )
            accounts[AccountKey(accountID: account, bundleID: bundle)] = Account(
                accountID: account,
                bundleID: bundle,
                version: Int(version),
                canMakePayments: canMakePayments,
                storefront: storefront
            )
        }
        for (key, intents) in try connection.read(PurchaseIntentStore.open(of: keys)) {
            accounts[key]?.purchaseIntents = intents
        }
        return accounts
    }
}
