import EventTypes
import Messaging
import Postgres

/// The SQL that lists who made and who deactivated offer codes, newest first.
enum CampaignActStore {
    /// Acts about campaigns, from the table of `payments`.
    static func acts(
        _ query: ActQuery,
        on connection: isolated PostgresConnection
    ) throws -> [RecordedAct] {
        let made = try acts(
            query,
            "made codes of",
            rank: 0,
            time: "created_at",
            act: "creation_act",
            on: connection
        )
        let ended = try acts(
            query,
            "deactivated the codes of",
            rank: 1,
            time: "deactivated_at",
            act: "deactivation_act",
            on: connection
        )
        return (made + ended).sorted { $0.place > $1.place }.map(\.act)
    }

    /// The newest acts of one kind.
    ///
    /// Each kind has an index of its own, so a page costs the same however many campaigns there are.
    ///
    /// - Parameters:
    ///   - query: The page.
    ///   - verb: The words for such an act.
    ///   - rank: The order among acts of one moment.
    ///   - timeColumn: The column of the act's time.
    ///   - actColumn: The column of the act.
    ///   - connection: A connection to the database of `payments`.
    /// - Returns: The acts with their places; one more than the page has, if there is a next page.
    /// - Throws: `PostgresError`; `DecodingError` if a row is not as it was written.
    private static func acts(
        _ query: ActQuery,
        _ verb: String,
        rank: Int64,
        time timeColumn: String,
        act actColumn: String,
        on connection: isolated PostgresConnection
    ) throws -> [(place: ActPlace, act: RecordedAct)] {
        let before = query.before.flatMap { ActPlace($0) } ?? .end
        return try connection.query(
            """
            SELECT (extract(epoch FROM \(unsafe: timeColumn)) * 1000000)::bigint, id, product_id,
                offer_id, \(unsafe: actColumn)
            FROM code_campaigns
            WHERE \(unsafe: timeColumn) IS NOT NULL
                AND (\(unsafe: timeColumn), id) < (
                    timestamptz '1970-01-01 00:00Z'
                        + \(before.moment)::float8 * interval '1 microsecond',
                    \(before.bound(of: rank))::bigint)
                AND (\(query.key) = '' OR product_id = \(query.key))
                AND (\(query.administrator) = ''
                    OR \(unsafe: actColumn) ->> 'decidedBy' = \(query.administrator))
            ORDER BY \(unsafe: timeColumn) DESC, id DESC LIMIT \(Int64(query.limit + 1))
            """
        ).map { row in
            let (micros, id, product, offer, act) = try row.decode(
                Int64.self,
                Int64.self,
                String.self,
                String.self,
                PostgresJSON.self
            )
            let place = ActPlace(micros: micros, rank: rank, id: id)
            let recorded = RecordedAct(
                act: try act.decode(Act.self),
                time: "\(StoreTime(millisecondsSinceEpoch: micros / 1000))",
                subject: .campaign(id),
                words: "\(verb) \(offer) of \(product)",
                key: product,
                place: "\(place)"
            )
            return (place, recorded)
        }
    }
}
