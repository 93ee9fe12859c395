import EventTypes
import Messaging
import Postgres
import StoreAPI

/// The table of campaigns.
enum CampaignStore {
    /// The constraint that a second custom code of the same word in an app meets.
    static let codeConstraint = "offer_codes_pkey"

    /// Writes a campaign with its codes.
    static func insert(
        _ request: CodeCampaignRequest,
        word: String?,
        _ digests: [CodeDigest],
        at time: StoreTime,
        by act: Act,
        on connection: isolated PostgresConnection
    ) throws -> CodeCampaign {
        let kind = word == nil ? "oneTime" : "custom"
        let rows = try connection.query(
            """
            INSERT INTO code_campaigns (bundle_id, product_id, offer_id, kind, redemptions_max,
                word, expires_at, created_at, creation_act)
            VALUES (\(request.bundleID), \(request.productID), \(request.offerID), \(kind),
                \(Int32(request.count)), \(word as String?), \(request.expiresAt as StoreTime?),
                \(time), \(try PostgresJSON(encoding: act)))
            RETURNING id
            """
        )
        guard let id = try rows.first?.decode(Int64.self) else { throw PaymentError(.unknownRow) }
        let max = word == nil ? 1 : Int32(request.count)
        try connection.enqueue(
            """
            INSERT INTO offer_codes (digest, campaign_id, redemptions_max)
            SELECT k, \(id), \(max) FROM unnest(\(digests.map(\.text))) AS k
            """
        )
        guard let campaign = try load(id, on: connection) else { throw PaymentError(.unknownRow) }
        return campaign
    }

    /// A campaign; `nil` if there is none.
    static func load(
        _ id: Int64,
        on connection: isolated PostgresConnection
    ) throws -> CodeCampaign? {
        try campaigns(
            in: connection.query("\(unsafe: selection) WHERE c.id = \(id)")
        ).first
    }

    /// Campaigns, the newest first.
    static func page(
        before id: Int64?,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [CodeCampaign] {
        try campaigns(
            in: connection.query(
                """
                \(unsafe: selection) WHERE c.id < \(id ?? Int64.max)
                ORDER BY c.id DESC LIMIT \(Int64(limit))
                """
            )
        )
    }

    /// Deactivates a campaign that is not.
    static func deactivate(
        _ id: Int64,
        at time: StoreTime,
        by act: Act,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.enqueue(
            """
            UPDATE code_campaigns SET deactivated_at = \(time),
                deactivation_act = \(try PostgresJSON(encoding: act))
            WHERE id = \(id) AND deactivated_at IS NULL
            """
        )
    }

    private static let selection = """
        SELECT c.id, c.bundle_id, c.product_id, c.offer_id, c.word, c.redemptions_max,
            (SELECT coalesce(sum(o.redemptions), 0)::integer FROM offer_codes o
                WHERE o.campaign_id = c.id),
            c.expires_at, c.created_at, c.creation_act, c.deactivated_at, c.deactivation_act
        FROM code_campaigns c
        """

    private static func campaigns(in rows: PostgresRows) throws -> [CodeCampaign] {
        try rows.map { row in
            let (
                id, bundle, product, offer, word, max, redemptions, end, created, creation, over,
                deactivation
            ) = try row.decode(
                Int64.self,
                BundleID.self,
                ProductID.self,
                OfferID.self,
                String?.self,
                Int32.self,
                Int32.self,
                StoreTime?.self,
                StoreTime.self,
                PostgresJSON.self,
                StoreTime?.self,
                PostgresJSON?.self
            )
            return CodeCampaign(
                id: id,
                bundleID: bundle,
                productID: product,
                offerID: offer,
                word: word,
                count: Int(max),
                redemptions: Int(redemptions),
                expiresAt: end,
                createdAt: created,
                created: try creation.decode(Act.self),
                deactivatedAt: over,
                deactivated: try deactivation?.decode(Act.self)
            )
        }
    }
}
