import EventTypes
import Postgres

/// The search for lost attempts in the sandbox's books.
struct PeriodSearchStore: Sendable {
    let books: SandboxStore

    /// Finds, for the tries of periods, those with the same number or a higher one that have charged, or
    /// else those that have begun to.
    ///
    /// - Parameter searches: The searches.
    /// - Returns: The newest found one of each period, by the try; none where nothing was found.
    /// - Throws: `PostgresError`.
    func find(_ searches: [PeriodSearch]) async throws -> [AttemptID: AttemptID] {
        guard !searches.isEmpty else { return [:] }
        let ids = searches.map(\.attemptID)
        let known = searches.reduce(into: Set<AttemptID>()) { $0.formUnion($1.known) }
        return try await books.client.withConnection { connection in
            let rows = try connection.query(
                """
                WITH asked AS (
                    SELECT * FROM unnest(\(ids.map(\.bytes)), \(ids.map(\.lastOfPeriod.bytes)))
                        AS u (first, last)
                )
                SELECT DISTINCT ON (first) first, found FROM (
                    SELECT asked.first, charge.idempotency_key AS found, false AS is_open
                    FROM asked JOIN sandbox_processor.charges charge
                        ON charge.idempotency_key BETWEEN asked.first AND asked.last
                    WHERE charge.decline_reason IS NULL
                        AND charge.idempotency_key <> ALL (\(known.map(\.bytes)))
                    UNION ALL
                    SELECT asked.first, open.idempotency_key, true
                    FROM asked JOIN sandbox_processor.open_charges open
                        ON open.idempotency_key BETWEEN asked.first AND asked.last
                    WHERE open.idempotency_key <> ALL (\(known.map(\.bytes))) AND NOT EXISTS (
                        SELECT FROM sandbox_processor.charges decided
                        WHERE decided.idempotency_key = open.idempotency_key)
                ) AS tries
                ORDER BY first, is_open, found DESC
                """
            )
            var found: [AttemptID: AttemptID] = [:]
            for row in rows {
                let (asked, id) = try row.decode(SIMD16<UInt8>.self, SIMD16<UInt8>.self)
                found[AttemptID(bytes: asked)] = AttemptID(bytes: id)
            }
            return found
        }
    }
}
