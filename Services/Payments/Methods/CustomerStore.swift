import EventTypes
import Messaging
import Postgres
import StoreAPI

/// The table of the buyers at the payment processor.
enum CustomerStore {
    /// The buyer of an account.
    struct Customer: Sendable {
        let account: AccountKey
        /// The account at the processor that has the buyer.
        let processor: ProcessorAccountName
        /// The idempotency key of the call that makes the buyer at the processor.
        let key: EventID
        /// The processor's own id; `nil` if it has not answered yet.
        let reference: String?
    }

    /// Reads the buyer of an account at an account at the processor, which gets a row if it has none.
    static func begin(
        _ account: AccountKey,
        in processor: ProcessorAccountName,
        key: EventID,
        at time: MachineTime,
        on connection: isolated PostgresConnection
    ) throws -> Customer {
        try connection.execute(
            """
            INSERT INTO processor_customers (
                account_id, bundle_id, processor_account, customer_key, created_at)
            VALUES (\(account.accountID), \(account.bundleID), \(processor.rawValue),
                \(key.bytes), \(time))
            ON CONFLICT (account_id, bundle_id, processor_account) DO NOTHING
            """
        )
        guard let customer = try find(account, in: processor, on: connection) else {
            throw PaymentError(.unknownRow)
        }
        return customer
    }

    /// Reads the buyer of an account at an account at the processor.
    private static func find(
        _ account: AccountKey,
        in processor: ProcessorAccountName,
        on connection: isolated PostgresConnection
    ) throws -> Customer? {
        try connection.query(
            """
            SELECT customer_key, reference FROM processor_customers
            WHERE account_id = \(account.accountID) AND bundle_id = \(account.bundleID)
                AND processor_account = \(processor.rawValue)
            """
        ).first.map { row in
            let (key, reference) = try row.decode(SIMD16<UInt8>.self, String?.self)
            return Customer(
                account: account,
                processor: processor,
                key: EventID(bytes: key),
                reference: reference
            )
        }
    }

    /// Finds the account of a buyer at an account at the processor.
    static func account(
        of reference: String,
        in processor: ProcessorAccountName,
        on connection: isolated PostgresConnection
    ) throws -> AccountKey? {
        try connection.query(
            """
            SELECT account_id, bundle_id FROM processor_customers
            WHERE reference = \(reference) AND processor_account = \(processor.rawValue)
            """
        ).first.map { row in
            let (account, bundle) = try row.decode(AccountID.self, BundleID.self)
            return AccountKey(accountID: account, bundleID: bundle)
        }
    }

    /// Reads the names of the accounts at the processor that have an account as a buyer, the oldest first.
    static func processors(
        of account: AccountKey,
        on connection: isolated PostgresConnection
    ) throws -> [ProcessorAccountName] {
        try connection.query(
            """
            SELECT processor_account FROM processor_customers
            WHERE account_id = \(account.accountID) AND bundle_id = \(account.bundleID)
                AND reference IS NOT NULL
            ORDER BY created_at, processor_account
            """
        ).map { ProcessorAccountName(rawValue: try $0.decode(String.self)) }
    }

    /// Reads the buyers that the accounts of payment methods are at the processor; unknown methods are
    /// absent.
    static func buyers(
        of methods: [PaymentMethod],
        on connection: isolated PostgresConnection
    ) throws -> [PaymentMethod: BuyerAccounts] {
        let rows = try connection.query(
            """
            SELECT m.token, m.bundle_id, m.processor_account, c.processor_account, c.reference,
                c.created_at
            FROM payment_methods m
            JOIN processor_customers c
                ON c.account_id = m.account_id AND c.bundle_id = m.bundle_id
            WHERE m.token = ANY(\(methods.map(\.rawValue)))
            """
        )
        var found: [PaymentMethod: BuyerAccounts] = [:]
        for row in rows {
            let (token, app, home, name, reference, time) = try row.decode(
                String.self,
                BundleID.self,
                String.self,
                String.self,
                String?.self,
                MachineTime.self
            )
            let empty = BuyerAccounts(app: app, home: ProcessorAccountName(rawValue: home))
            let buyer = BuyerAccounts.Buyer(reference: reference, madeAt: time)
            found[PaymentMethod(rawValue: token), default: empty]
                .buyers[ProcessorAccountName(rawValue: name)] = buyer
        }
        return found
    }

    /// Notes the processor's id of a buyer.
    ///
    /// - Returns: The id that counts: the first one, if two requests have made a buyer at once.
    static func name(
        _ customer: Customer,
        _ reference: String,
        on connection: isolated PostgresConnection
    ) throws -> String {
        let (account, bundle) = (customer.account.accountID, customer.account.bundleID)
        let rows = try connection.query(
            """
            UPDATE processor_customers SET reference = coalesce(reference, \(reference))
            WHERE account_id = \(account) AND bundle_id = \(bundle)
                AND processor_account = \(customer.processor.rawValue)
            RETURNING reference
            """
        )
        guard let row = rows.first else { throw PaymentError(.unknownRow) }
        return try row.decode(String.self)
    }

    /// Gives a buyer another key, because the processor keeps an error under the one before.
    static func replaceKey(
        of customer: Customer,
        by key: EventID,
        on connection: isolated PostgresConnection
    ) throws {
        let (account, bundle) = (customer.account.accountID, customer.account.bundleID)
        try connection.execute(
            """
            UPDATE processor_customers SET customer_key = \(key.bytes)
            WHERE account_id = \(account) AND bundle_id = \(bundle)
                AND processor_account = \(customer.processor.rawValue)
                AND customer_key = \(customer.key.bytes) AND reference IS NULL
            """
        )
    }
}
