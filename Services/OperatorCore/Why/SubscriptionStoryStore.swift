import EventTypes
import Postgres
import StoreAPI

/// The SQL of the story of a subscription.
enum SubscriptionStoryStore {
    /// The most failed tries that a story lists.
    private static let failuresMax: Int64 = 1000

    /// Adds the period that a transaction pays for, and the campaign of its code.
    ///
    /// A payment that has failed has given its code back.
    private static func addPeriod(
        to chapter: inout PaymentsChapter,
        on connection: isolated PostgresConnection
    ) throws {
        guard
            let row = try connection.query(
                """
                SELECT t.subscription, c.campaign_id
                FROM transactions t
                LEFT JOIN code_redemptions r ON r.transaction_id = t.id
                LEFT JOIN offer_codes c ON c.digest = r.digest
                WHERE t.id = \(chapter.id.number) AND t.subscription IS NOT NULL
                """
            ).first
        else { return }
        let (period, campaign) = try row.decode(PostgresJSON.self, Int64?.self)
        chapter.period = try period.decode(TransactionPeriod.self)
        chapter.campaign = campaign
    }

    /// Adds the subscription that a transaction pays for; to its first transaction, also the tries to
    /// renew that failed.
    static func addSubscription(
        to chapter: inout PaymentsChapter,
        on connection: isolated PostgresConnection
    ) throws {
        try addPeriod(to: &chapter, on: connection)
        let id = chapter.originalID
        guard
            let row = try connection.query(
                "SELECT data FROM subscriptions WHERE id = \(id.number)"
            ).first
        else { return }
        let data = try row.decode(PostgresJSON.self)
        chapter.subscription = try data.decode(Subscription.self)
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
