import EventTypes
import Postgres

/// Reads where the redemptions of offer codes and the payments of `payments` disagree.
///
/// Both are written in one database transaction and read in one, so nothing is ever on its way.
enum ReconcileCodeStore {
    /// The disagreements, with the transaction or the campaign that each is about.
    static func differences(
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [(transactionID: TransactionID?, campaign: Int64?, detail: String)] {
        try connection.query(
            """
            SELECT NULL::bigint, o.campaign_id,
                'a code counts ' || o.redemptions || ' redemptions, and ' || count(r.digest)
                    || ' payments have one'
            FROM offer_codes o LEFT JOIN code_redemptions r ON r.digest = o.digest
            GROUP BY o.digest HAVING o.redemptions <> count(r.digest)
            UNION ALL
            SELECT r.transaction_id, NULL, 'it holds a code, and ' || coalesce(t.state, 'is unknown')
            FROM code_redemptions r LEFT JOIN transactions t ON t.id = r.transaction_id
            WHERE t.state IS NULL OR t.state = 'failed'
            UNION ALL
            SELECT r.transaction_id, NULL, 'it redeemed a code that is not there'
            FROM code_redemptions r LEFT JOIN offer_codes o ON o.digest = r.digest
            WHERE o.digest IS NULL
            UNION ALL
            SELECT t.id, NULL, 'it has a code offer, and redeemed no code'
            FROM transactions t
            LEFT JOIN code_redemptions r ON r.transaction_id = t.id
            WHERE t.subscription IS NOT NULL AND t.state <> 'failed' AND r.transaction_id IS NULL
                AND (t.subscription -> 'redeems' ->> 'type' = 'code'
                    OR t.subscription -> 'offer' ->> 'type' = 'code'
                        AND t.subscription -> 'offer' ->> 'number' = '1'
                        AND t.subscription ->> 'redeems' IS NULL
                        AND t.subscription ->> 'charge' IS NULL
                        AND t.subscription ->> 'paidBy' IS NULL)
            LIMIT \(Int64(limit))
            """
        ).map { row in
            let (id, campaign, detail) = try row.decode(Int64?.self, Int64?.self, String.self)
            return (id.map { TransactionID(number: $0) }, campaign, detail)
        }
    }
}
