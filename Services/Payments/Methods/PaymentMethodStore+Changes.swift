import EventTypes
import Messaging
import Postgres
import StoreAPI

/// What becomes of saved payment methods.
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

    /// The methods with which nothing may be charged while the buyer is away.
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

    /// Whether an account has saved a method, be it removed or not.
    static func isKnown(
        _ method: PaymentMethod,
        of key: AccountKey?,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        try connection.query(
            """
            SELECT account_id, bundle_id FROM payment_methods WHERE token = \(method.rawValue)
            """
        ).contains { row in
            let (account, bundle) = try row.decode(AccountID.self, BundleID.self)
            return key == nil || key == AccountKey(accountID: account, bundleID: bundle)
        }
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

    /// Writes what a bank has renewed of a card, which is tried again from then on.
    static func renew(
        _ method: PaymentMethod,
        brand: String,
        lastFour: String,
        expiryMonth: Int,
        expiryYear: Int,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            UPDATE payment_methods SET brand = \(brand), last_four = \(lastFour),
                expiry_month = \(Int32(expiryMonth)), expiry_year = \(Int32(expiryYear)),
                refused_at = NULL
            WHERE token = \(method.rawValue)
            """
        )
    }
}
