import EventTypes
import Messaging
import Postgres

/// The tables of offer codes and of their redemptions.
///
/// A code's row is the last that a database transaction locks, always in the order of the digests.
enum CodeStore {
    /// The constraint that the redemption too many meets.
    static let countConstraint = "a_code_is_redeemed_at_most_so_often"
    /// The constraint that a second redemption of an offer by an account meets.
    static let accountConstraint = "an_account_redeems_an_offer_once"

    /// Reads codes without locking them, each with whether its account has redeemed its offer before.
    ///
    /// - Parameter asked: The codes, each with the account that is to redeem it.
    /// - Returns: What is known of them, by one statement.
    static func facts(
        of asked: [(digest: CodeDigest, account: AccountKey)]
    ) -> PostgresReading<CodeFacts> {
        guard !asked.isEmpty else { return PostgresReading(known: CodeFacts()) }
        // `LIMIT` keeps each of the two from becoming a join, which may begin with the table and read
        // all of it.
        return PostgresReading(
            """
            SELECT asked.account_id, asked.bundle_id, code.digest, c.bundle_id, c.product_id,
                c.offer_id, c.expires_at, c.deactivated_at IS NOT NULL, code.redemptions_max,
                code.redemptions, had.transaction_id IS NOT NULL
            FROM unnest(
                \(asked.map(\.digest.text)), \(asked.map(\.account.accountID)),
                \(asked.map(\.account.bundleID))) AS asked (digest, account_id, bundle_id)
            CROSS JOIN LATERAL (
                SELECT o.digest, o.campaign_id, o.redemptions_max, o.redemptions
                FROM offer_codes o WHERE o.digest = asked.digest LIMIT 1
            ) AS code
            JOIN code_campaigns c ON c.id = code.campaign_id
            LEFT JOIN LATERAL (
                SELECT r.transaction_id FROM code_redemptions r
                WHERE r.account_id = asked.account_id AND r.bundle_id = asked.bundle_id
                    AND r.product_id = c.product_id AND r.offer_id = c.offer_id
                LIMIT 1
            ) AS had ON true
            """
        ) { rows in
            var facts = CodeFacts()
            for row in rows {
                let (
                    account, app, text, bundle, product, offer, end, isDeactivated, max, count, had
                ) = try row.decode(
                    AccountID.self,
                    BundleID.self,
                    String.self,
                    BundleID.self,
                    ProductID.self,
                    OfferID.self,
                    StoreTime?.self,
                    Bool.self,
                    Int32.self,
                    Int32.self,
                    Bool.self
                )
                let digest = CodeDigest(text: text)
                facts.codes[digest] = OfferCode(
                    digest: digest,
                    bundleID: bundle,
                    productID: product,
                    offerID: offer,
                    expiresAt: end,
                    isDeactivated: isDeactivated,
                    redemptionsMax: Int(max),
                    redemptions: Int(count)
                )
                guard had else { continue }
                facts.redeemed.insert(
                    RedemptionKey(
                        account: AccountKey(accountID: account, bundleID: app),
                        productID: product,
                        offerID: offer
                    )
                )
            }
            return facts
        }
    }

    /// Writes which payments redeem codes, and counts them.
    ///
    /// The server waits for another process that redeems or gives back one of the codes at this moment.
    /// If too many redeem it then, a later statement, or COMMIT, fails because of ``countConstraint``.
    static func redeem(
        _ redemptions: [CodeRedemption],
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        guard !redemptions.isEmpty else { return }
        let ordered = redemptions.sorted { $0.digest < $1.digest }
        let steps = changes(of: ordered.map(\.digest), by: 1)
        // Nothing refers to `counted`, so the server counts after it has inserted.
        try connection.enqueue(
            """
            WITH counted AS (
                UPDATE offer_codes AS o SET redemptions = o.redemptions + locked.change
                FROM (
                    SELECT c.digest, k.change FROM offer_codes c
                    JOIN unnest(\(steps.map(\.digest.text)), \(steps.map(\.change)))
                        AS k (digest, change) USING (digest)
                    ORDER BY c.digest FOR NO KEY UPDATE OF c
                ) AS locked
                WHERE o.digest = locked.digest
            )
            INSERT INTO code_redemptions (transaction_id, digest, account_id, bundle_id, product_id,
                offer_id, redeemed_at)
            SELECT k.*, \(time) FROM unnest(
                \(ordered.map(\.transactionID.number)), \(ordered.map(\.digest.text)),
                \(ordered.map(\.key.account.accountID)), \(ordered.map(\.key.account.bundleID)),
                \(ordered.map(\.key.productID)), \(ordered.map(\.key.offerID))) AS k
            """
        )
    }

    /// Gives back the codes of payments that have failed; others change nothing.
    ///
    /// If another database transaction changes a count meanwhile, this one waits for it and goes on from
    /// the new count.
    static func giveBack(
        _ failed: [TransactionID],
        on connection: isolated PostgresConnection
    ) throws {
        guard !failed.isEmpty else { return }
        let rows = try connection.query(
            """
            DELETE FROM code_redemptions WHERE transaction_id = ANY(\(failed.map(\.number)))
            RETURNING digest
            """
        )
        let digests = try rows.map { CodeDigest(text: try $0.decode(String.self)) }
        guard !digests.isEmpty else { return }
        let steps = changes(of: digests, by: -1)
        try connection.enqueue(
            """
            UPDATE offer_codes AS o SET redemptions = o.redemptions + locked.change
            FROM (
                SELECT c.digest, k.change FROM offer_codes c
                JOIN unnest(\(steps.map(\.digest.text)), \(steps.map(\.change)))
                    AS k (digest, change) USING (digest)
                ORDER BY c.digest FOR NO KEY UPDATE OF c
            ) AS locked
            WHERE o.digest = locked.digest
            """
        )
    }

    /// The changes of the counts of codes, each code once, in the order of the digests.
    private static func changes(
        of digests: [CodeDigest],
        by step: Int32
    ) -> [(digest: CodeDigest, change: Int32)] {
        Dictionary(digests.map { ($0, step) }, uniquingKeysWith: +)
            .map { (digest: $0.key, change: $0.value) }
            .sorted { $0.digest < $1.digest }
    }
}
