import EventTypes
import Foundation
import Postgres
import StoreAPI

/// The SQL of the story of a subscription.
enum SubscriptionStoryStore {
    /// The most failed tries that a story lists.
    private static let failuresMax: Int64 = 1000

    /// Adds the subscription that a transaction pays for; to its first transaction, also the tries to
    /// renew that failed.
    static func addSubscription(
        to chapter: inout PaymentsChapter,
        on connection: isolated PostgresConnection
    ) throws {
        let id = chapter.originalID
        guard
            let row = try connection.query(
                "SELECT data FROM subscriptions WHERE id = \(id.number)"
            ).first
        else { return }
        let data = try row.decode(PostgresJSON.self)
        chapter.subscription = try JSONDecoder().decode(Subscription.self, from: Data(data.bytes))
        guard chapter.id == id else { return }
        chapter.failedTries = try connection.query(
            """
            SELECT t.id, coalesce(a.renewal_try, 0), t.price, t.currency, t.failure_reason,
                t.requested_at
            FROM transactions t JOIN processor_attempts a
                ON a.transaction_id = t.id AND a.kind = 'charge' AND a.number = 1
            WHERE t.account_id = \(chapter.accountID) AND t.bundle_id = \(chapter.bundleID)
                AND t.product_type = 'autoRenewableSubscription'
                AND t.original_id = \(id.number) AND t.reason = 'renewal' AND t.state = 'failed'
            ORDER BY t.id LIMIT \(failuresMax)
            """
        ).map { row in
            let (id, number, price, currency, reason, time) = try row.decode(
                Int64.self,
                Int32.self,
                Int64.self,
                Currency.self,
                String.self,
                StoreTime.self
            )
            return PaymentsChapter.FailedTry(
                id: TransactionID(number: id),
                number: Int(number),
                price: Money(minorUnits: price, currency: currency),
                reason: reason,
                time: time
            )
        }
    }
}
