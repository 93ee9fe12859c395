import EventTypes
import Postgres

/// The search for lost attempts in the sandbox's books.
struct PeriodSearchStore: Sendable {
    let books: SandboxStore

    /// Finds, for the tries of periods, those with the same number or a higher one that have charged, or
    /// else those that have begun to.
    ///
    /// - Parameter searches: The searches.
    /// - Returns: The newest found one of each period, by the try, with its refunds; none where nothing was
    ///   found.
    /// - Throws: `PostgresError`.
    func find(_ searches: [PeriodSearch]) async throws -> [AttemptID: PeriodFinding] {
        let found = try await tries(of: searches)
        let refunds = try await self.refunds(of: Array(found.values))
        return found.mapValues { .found($0, refunds: refunds[$0] ?? []) }
    }

    private func tries(of searches: [PeriodSearch]) async throws -> [AttemptID: AttemptID] {
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

    /// Finds what was given back of charges, or is on its way back.
    ///
    /// What was reversed is left out.
    private func refunds(of charges: [AttemptID]) async throws -> [AttemptID: [LostRefund]] {
        guard !charges.isEmpty else { return [:] }
        return try await books.client.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT charge_key, idempotency_key, amount, currency FROM (
                    SELECT charge_key, idempotency_key, amount, currency, created_at
                    FROM sandbox_processor.refunds refund
                    WHERE NOT EXISTS (
                        SELECT FROM sandbox_processor.reversals reversal
                        WHERE reversal.refund_key = refund.idempotency_key)
                    UNION ALL
                    SELECT charge_key, idempotency_key, amount, currency, created_at
                    FROM sandbox_processor.open_refunds open
                    WHERE NOT EXISTS (
                        SELECT FROM sandbox_processor.refunds made
                        WHERE made.idempotency_key = open.idempotency_key)
                ) AS refunds
                WHERE charge_key = ANY(\(charges.map(\.bytes)))
                ORDER BY created_at, idempotency_key
                """
            )
            var refunds: [AttemptID: [LostRefund]] = [:]
            for row in rows {
                let (charge, id, amount, currency) = try row.decode(
                    SIMD16<UInt8>.self,
                    SIMD16<UInt8>.self,
                    Int64.self,
                    Currency.self
                )
                let (chargeID, refundID) = (AttemptID(bytes: charge), AttemptID(bytes: id))
                refunds[chargeID, default: []].append(
                    LostRefund(
                        id: refundID,
                        reference: SandboxProcessor.reference(of: refundID),
                        charge: SandboxProcessor.reference(of: chargeID),
                        amount: Money(minorUnits: amount, currency: currency)
                    )
                )
            }
            return refunds
        }
    }
}
