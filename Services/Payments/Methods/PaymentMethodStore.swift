import EventTypes
import Messaging
import Postgres
import StoreAPI

/// The table of the payment methods that accounts have saved.
enum PaymentMethodStore {
    /// Reads the methods of accounts.
    static func saved(
        by accounts: Set<AccountKey>
    ) -> PostgresReading<[AccountKey: Set<PaymentMethod>]> {
        guard !accounts.isEmpty else { return PostgresReading(known: [:]) }
        let keys = accounts.sorted()
        return PostgresReading(
            """
            SELECT account_id, bundle_id, token
            FROM unnest(\(keys.map(\.accountID)), \(keys.map(\.bundleID)))
                AS asked (account_id, bundle_id)
            JOIN payment_methods USING (account_id, bundle_id) WHERE removed_at IS NULL
            """
        ) { rows in
            var saved: [AccountKey: Set<PaymentMethod>] = [:]
            for row in rows {
                let (account, bundle, token) = try row.decode(
                    AccountID.self,
                    BundleID.self,
                    String.self
                )
                saved[AccountKey(accountID: account, bundleID: bundle), default: []].insert(
                    PaymentMethod(rawValue: token)
                )
            }
            return saved
        }
    }

    /// Reads the methods of an account, the newest first.
    static func load(
        of key: AccountKey,
        on connection: isolated PostgresConnection
    ) throws -> [SavedPaymentMethod] {
        try connection.query(
            """
            SELECT token, brand, last_four, expiry_month, expiry_year, mandate
            FROM payment_methods
            WHERE account_id = \(key.accountID) AND bundle_id = \(key.bundleID)
                AND removed_at IS NULL
            ORDER BY saved_at DESC, token
            """
        ).map { row in
            let (token, brand, lastFour, month, year, mandate) = try row.decode(
                String.self,
                String.self,
                String.self,
                Int32.self,
                Int32.self,
                String.self
            )
            return SavedPaymentMethod(
                token: PaymentMethod(rawValue: token),
                brand: brand,
                lastFour: lastFour,
                expiryMonth: Int(month),
                expiryYear: Int(year),
                mandate: mandate
            )
        }
    }

    /// Reads the processor's ids of the buyers to whom methods belong; unknown methods are absent.
    static func customers(
        of methods: [PaymentMethod],
        on connection: isolated PostgresConnection
    ) throws -> [PaymentMethod: String] {
        let rows = try connection.query(
            """
            SELECT m.token, c.reference FROM payment_methods m
            JOIN processor_customers c USING (account_id, bundle_id)
            WHERE m.token = ANY(\(methods.map(\.rawValue))) AND c.reference IS NOT NULL
            """
        )
        var customers: [PaymentMethod: String] = [:]
        for row in rows {
            let (token, reference) = try row.decode(String.self, String.self)
            customers[PaymentMethod(rawValue: token)] = reference
        }
        return customers
    }

    /// Saves a method of an account; a saved one stays as it is.
    static func insert(
        _ method: SavedPaymentMethod,
        of key: AccountKey,
        at time: MachineTime,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            INSERT INTO payment_methods (token, account_id, bundle_id, brand, last_four,
                expiry_month, expiry_year, mandate, saved_at)
            VALUES (\(method.token.rawValue), \(key.accountID), \(key.bundleID), \(method.brand),
                \(method.lastFour), \(Int32(method.expiryMonth)), \(Int32(method.expiryYear)),
                \(method.mandate), \(time))
            ON CONFLICT (token) DO NOTHING
            """
        )
    }
}
