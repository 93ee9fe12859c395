import EventTypes
import Messaging
import Postgres

/// The SQL that lists who made and who deactivated offer codes, newest first.
enum CampaignActStore {
    /// Acts about campaigns, from the table of `payments`.
    ///
    /// Each kind of act is read by an index of its own, so a page costs the same however many campaigns
    /// there are.
    static func acts(
        _ query: ActQuery,
        on connection: isolated PostgresConnection
    ) throws -> [RecordedAct] {
        let before = query.before.flatMap { ActPlace($0) } ?? .end
        let limit = Int64(query.limit + 1)
        return try connection.query(
            """
            SELECT * FROM (
                (SELECT (extract(epoch FROM created_at) * 1000000)::bigint AS micros,
                    0::bigint AS rank, id, product_id, offer_id, creation_act AS act
                FROM code_campaigns
                WHERE (created_at, id) < (timestamptz '1970-01-01 00:00Z'
                        + \(before.moment)::float8 * interval '1 microsecond',
                        \(before.bound(of: 0))::bigint)
                    AND (\(query.key) = '' OR product_id = \(query.key))
                    AND (\(query.administrator) = ''
                        OR creation_act ->> 'decidedBy' = \(query.administrator))
                ORDER BY created_at DESC, id DESC LIMIT \(limit))
                UNION ALL
                (SELECT (extract(epoch FROM deactivated_at) * 1000000)::bigint, 1, id, product_id,
                    offer_id, deactivation_act
                FROM code_campaigns
                WHERE deactivated_at IS NOT NULL
                    AND (deactivated_at, id) < (timestamptz '1970-01-01 00:00Z'
                        + \(before.moment)::float8 * interval '1 microsecond',
                        \(before.bound(of: 1))::bigint)
                    AND (\(query.key) = '' OR product_id = \(query.key))
                    AND (\(query.administrator) = ''
                        OR deactivation_act ->> 'decidedBy' = \(query.administrator))
                ORDER BY deactivated_at DESC, id DESC LIMIT \(limit))
            ) AS acts
            ORDER BY micros DESC, rank DESC, id DESC LIMIT \(limit)
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
