import EventTypes
import Foundation
import Messaging
import Postgres

/// The SQL of the periods that families share.
enum SharedPeriodStore {
    /// The most shares of an account that are looked at, the newest.
    private static let lookedAtMax: Int64 = 5_000
    /// The most shares of one subscription that are read, the newest.
    ///
    /// A share may be followed by that of the next period, which is paid early.
    private static let limitOfEach: Int64 = 3
    /// The most shares of an account that are read, the newest.
    private static let limit: Int64 = 100

    /// Reads the periods that families share with an account, those that were taken away included.
    ///
    /// Of each subscription it reads the newest ones, so that a long period is not left out because
    /// other subscriptions have had many short ones since.
    ///
    /// - Parameters:
    ///   - owner: The account.
    ///   - connection: A connection to the database of `receipts`.
    /// - Returns: The periods, the newest share first.
    /// - Throws: `PostgresError`; `DecodingError` if a payload or a subscription cannot be read.
    static func periods(
        of owner: OwnerKey,
        on connection: isolated PostgresConnection
    ) throws -> [SharedPeriod] {
        let shares = try connection.query(
            """
            SELECT payload FROM (
                SELECT transaction_id, row_number() OVER (
                    PARTITION BY original_transaction_id ORDER BY transaction_id DESC) AS place
                FROM (
                    SELECT transaction_id, original_transaction_id FROM signed_transactions
                    WHERE app_transaction_id = (
                        SELECT app_transaction_id FROM app_transactions
                        WHERE account_id = \(owner.account) AND bundle_id = \(owner.bundle)
                    )
                        AND reason = 'familyShared' AND product_type = 'autoRenewableSubscription'
                    ORDER BY transaction_id DESC LIMIT \(lookedAtMax)
                ) AS looked
            ) AS shares JOIN signed_transactions USING (transaction_id)
            WHERE place <= \(limitOfEach)
            ORDER BY transaction_id DESC LIMIT \(limit)
            """
        ).map { row in
            let payload = try PackedPayload.unpacked(row.decode([UInt8].self))
            return try JSONDecoder().decode(SignedTransactionPayload.self, from: Data(payload))
        }
        guard !shares.isEmpty else { return [] }
        let bought = try subscriptions(paidBy: shares.compactMap(\.paidBy), on: connection)
        return shares.compactMap { share in
            guard let paidBy = share.paidBy, let subscription = bought[paidBy] else { return nil }
            return SharedPeriod(owner: owner, share: share, bought: subscription)
        }
    }

    /// Reads the subscriptions whose periods some transactions have paid.
    private static func subscriptions(
        paidBy ids: [TransactionID],
        on connection: isolated PostgresConnection
    ) throws -> [TransactionID: Subscription] {
        let rows = try connection.query(
            """
            SELECT paying.transaction_id, known.data
            FROM signed_transactions AS paying
            JOIN subscriptions AS known ON known.id = paying.original_transaction_id
            WHERE paying.transaction_id = ANY(\(ids.map(\.number)))
            """
        )
        var subscriptions: [TransactionID: Subscription] = [:]
        for row in rows {
            let (id, data) = try row.decode(Int64.self, PostgresJSON.self)
            subscriptions[TransactionID(number: id)] = try data.decodePlain(Subscription.self)
        }
        return subscriptions
    }
}
