import EventTypes
import Messaging
import Postgres

/// The SQL that lists who made and who deactivated offer codes, newest first.
enum CampaignActStore {
    /// The most campaigns that are looked at, the newest first.
    private static let campaignsMax: Int64 = 10_000

    /// Acts about campaigns, from the table of `payments`.
    static func acts(
        _ query: ActQuery,
        on connection: isolated PostgresConnection
    ) throws -> [RecordedAct] {
        let before = query.before.flatMap { ActPlace($0) } ?? .end
        return try connection.query(
            """
            SELECT micros, rank, id, product_id, offer_id, act FROM (
                SELECT (extract(epoch FROM created_at) * 1000000)::bigint AS micros,
                    0::bigint AS rank, id, product_id, offer_id, creation_act AS act
                FROM (
                    SELECT * FROM code_campaigns ORDER BY id DESC LIMIT \(campaignsMax)
                ) AS made
                UNION ALL
                SELECT (extract(epoch FROM deactivated_at) * 1000000)::bigint, 1, id, product_id,
                    offer_id, deactivation_act
                FROM (
                    SELECT * FROM code_campaigns ORDER BY id DESC LIMIT \(campaignsMax)
                ) AS ended
                WHERE deactivated_at IS NOT NULL
            ) AS acts
            WHERE (micros, rank, id) < (\(before.micros), \(before.rank), \(before.id))
                AND (\(query.key) = '' OR product_id = \(query.key))
                AND (\(query.administrator) = '' OR act ->> 'decidedBy' = \(query.administrator))
            ORDER BY micros DESC, rank DESC, id DESC LIMIT \(Int64(query.limit + 1))
            """
        ).map { row in
            let (micros, rank, id, product, offer, act) = try row.decode(
                Int64.self,
                Int64.self,
                Int64.self,
                String.self,
                String.self,
                PostgresJSON.self
            )
            let verb = rank == 0 ? "made codes of" : "deactivated the codes of"
            return RecordedAct(
                act: try act.decode(Act.self),
                time: "\(StoreTime(millisecondsSinceEpoch: micros / 1000))",
                subject: .campaign(id),
                words: "\(verb) \(offer) of \(product)",
                key: product,
                place: "\(ActPlace(micros: micros, rank: rank, id: id))"
            )
        }
    }
}
