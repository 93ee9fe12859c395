import EventTypes
import Messaging
import Postgres
import StoreAPI

/// The table of the payment methods that accounts have saved.
enum PaymentMethodStore {
    /// Reads the methods with which accounts may pay for what they buy.
    ///
    /// - Parameters:
    ///   - accounts: The accounts.
    ///   - processor: The account at the processor of an app; methods that were saved elsewhere pay only
    ///     for what was bought with them.
    /// - Returns: The reading.
    static func saved(
        by accounts: Set<AccountKey>,
        at processor: (BundleID) -> ProcessorAccountName
    ) -> PostgresReading<[AccountKey: Set<PaymentMethod>]> {
        guard !accounts.isEmpty else { return PostgresReading(known: [:]) }
        let keys = accounts.sorted()
        return PostgresReading(
            """
            SELECT account_id, bundle_id, token
            FROM unnest(\(keys.map(\.accountID)), \(keys.map(\.bundleID)),
                \(keys.map { processor($0.bundleID).rawValue }))
                AS asked (account_id, bundle_id, processor_account)
            JOIN payment_methods USING (account_id, bundle_id, processor_account)
            WHERE removed_at IS NULL
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

    /// Whether an account may pay for its subscriptions by a method.
    ///
    /// It has saved the method and not removed it. A method that was saved at another account at the
    /// processor than the app's must pay for one of them already.
    static func paysForSubscriptions(
        _ method: PaymentMethod,
        of account: AccountKey,
        at processor: ProcessorAccountName,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        try !connection.query(
            """
            SELECT FROM payment_methods m
            WHERE m.token = \(method.rawValue) AND m.account_id = \(account.accountID)
                AND m.bundle_id = \(account.bundleID) AND m.removed_at IS NULL
                AND (m.processor_account = \(processor.rawValue) OR EXISTS (
                    SELECT FROM subscriptions s
                    WHERE s.account_id = m.account_id AND s.bundle_id = m.bundle_id
                        AND s.payment_method = m.token))
            """
        ).isEmpty
    }

    /// Reads the accounts at the processor where methods were saved; unknown methods are absent.
    static func homes(
        of methods: [PaymentMethod],
        on connection: isolated PostgresConnection
    ) throws -> [PaymentMethod: ProcessorAccountName] {
        let rows = try connection.query(
            """
            SELECT token, processor_account FROM payment_methods
            WHERE token = ANY(\(methods.map(\.rawValue)))
            """
        )
        var homes: [PaymentMethod: ProcessorAccountName] = [:]
        for row in rows {
            let (token, name) = try row.decode(String.self, String.self)
            homes[PaymentMethod(rawValue: token)] = ProcessorAccountName(rawValue: name)
        }
        return homes
    }

    /// Reads the methods that an account has saved at an account at the processor, the newest first.
    static func load(
        of key: AccountKey,
        at processor: ProcessorAccountName,
        on connection: isolated PostgresConnection
    ) throws -> [SavedPaymentMethod] {
        try connection.query(
            """
            SELECT token, brand, last_four, expiry_month, expiry_year, mandate
            FROM payment_methods
            WHERE account_id = \(key.accountID) AND bundle_id = \(key.bundleID)
                AND processor_account = \(processor.rawValue) AND removed_at IS NULL
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

    /// Reads the buyers to whom methods belong; unknown methods are absent.
    static func customers(
        of methods: [PaymentMethod],
        on connection: isolated PostgresConnection
    ) throws -> [PaymentMethod: ProcessorBuyer] {
        let rows = try connection.query(
            """
            SELECT m.token, c.reference, bundle_id FROM payment_methods m
            JOIN processor_customers c USING (account_id, bundle_id, processor_account)
            WHERE m.token = ANY(\(methods.map(\.rawValue))) AND c.reference IS NOT NULL
            """
        )
        var customers: [PaymentMethod: ProcessorBuyer] = [:]
        for row in rows {
            let (token, reference, app) = try row.decode(
                String.self,
                String.self,
                BundleID.self
            )
            customers[PaymentMethod(rawValue: token)] = ProcessorBuyer(
                reference: reference,
                app: app
            )
        }
        return customers
    }

    /// Saves a method of an account; a saved one stays as it is.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - key: The account.
    ///   - processor: The account at the processor that has the method.
    ///   - time: The present.
    ///   - connection: A connection.
    /// - Returns: Whether it was not saved before.
    /// - Throws: `PostgresError`.
    static func insert(
        _ method: SavedPaymentMethod,
        of key: AccountKey,
        in processor: ProcessorAccountName,
        at time: MachineTime,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        try !connection.query(
            """
            INSERT INTO payment_methods (token, account_id, bundle_id, processor_account, brand,
                last_four, expiry_month, expiry_year, mandate, saved_at)
            VALUES (\(method.token.rawValue), \(key.accountID), \(key.bundleID),
                \(processor.rawValue), \(method.brand), \(method.lastFour),
                \(Int32(method.expiryMonth)), \(Int32(method.expiryYear)), \(method.mandate), \(time))
            ON CONFLICT (token) DO NOTHING RETURNING token
            """
        ).isEmpty
    }
}

/// Changes of saved payment methods.
extension PaymentMethodStore {
    /// Notes that banks will never accept methods again.
    static func refuse(
        _ methods: Set<PaymentMethod>,
        at time: MachineTime,
        on connection: isolated PostgresConnection
    ) throws {
        guard !methods.isEmpty else { return }
        try connection.execute(
            """
            UPDATE payment_methods SET refused_at = \(time)
            WHERE token = ANY(\(methods.map(\.rawValue).sorted())) AND refused_at IS NULL
            """
        )
    }

    /// The methods by which no renewal is charged, whether its buyer is present or not.
    ///
    /// They were removed, or their banks have refused them for good.
    static func unusable(
        of methods: [PaymentMethod],
        on connection: isolated PostgresConnection
    ) throws -> Set<PaymentMethod> {
        let rows = try connection.query(
            """
            SELECT token FROM payment_methods WHERE token = ANY(\(methods.map(\.rawValue)))
                AND (removed_at IS NOT NULL OR refused_at IS NOT NULL)
            """
        )
        return Set(try rows.map { PaymentMethod(rawValue: try $0.decode(String.self)) })
    }

    /// Notes that a buyer has removed a method.
    static func remove(
        _ method: PaymentMethod,
        at time: MachineTime,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            UPDATE payment_methods SET removed_at = \(time)
            WHERE token = \(method.rawValue) AND removed_at IS NULL
            """
        )
    }

    /// The owner of a method.
    struct Owner: Sendable {
        let account: AccountKey
        /// The account at the processor where the method was saved.
        let processor: ProcessorAccountName
    }

    /// The owner of a method, be it removed or not; `nil` if it was never saved.
    static func owner(
        of method: PaymentMethod,
        on connection: isolated PostgresConnection
    ) throws -> Owner? {
        try connection.query(
            """
            SELECT account_id, bundle_id, processor_account FROM payment_methods
            WHERE token = \(method.rawValue)
            """
        ).first.map { row in
            let (account, bundle, processor) = try row.decode(
                AccountID.self,
                BundleID.self,
                String.self
            )
            return Owner(
                account: AccountKey(accountID: account, bundleID: bundle),
                processor: ProcessorAccountName(rawValue: processor)
            )
        }
    }

    /// Writes what a bank has renewed of a card, which is tried again from then on.
    ///
    /// A card of which nothing is new stays refused. So an event that is applied twice does not have a
    /// card charged again that its bank has refused for good in between.
    ///
    /// - Returns: Whether anything of it is new.
    static func renew(
        _ method: PaymentMethod,
        brand: String,
        lastFour: String,
        expiryMonth: Int,
        expiryYear: Int,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        try !connection.query(
            """
            UPDATE payment_methods SET brand = \(brand), last_four = \(lastFour),
                expiry_month = \(Int32(expiryMonth)), expiry_year = \(Int32(expiryYear)),
                refused_at = NULL
            WHERE token = \(method.rawValue)
                AND (brand, last_four, expiry_month, expiry_year) IS DISTINCT FROM (
                    \(brand), \(lastFour), \(Int32(expiryMonth)), \(Int32(expiryYear)))
            RETURNING token
            """
        ).isEmpty
    }
}
