import EventTypes
import Messaging
import Postgres

/// The SQL about charges of which the books may have lost an earlier try.
enum DoubtedAttemptStore {
    /// The result of a search for a charge.
    struct Finding: Sendable {
        let key: AttemptKey
        /// The lost try; `nil` if none was found.
        let lost: AttemptID?
        /// An id that no try has, if the charge needs another one.
        let unused: AttemptID
    }

    /// The lost tries that charges of the same periods have taken over before.
    ///
    /// - Parameters:
    ///   - ids: The ids of the tries that search now; those of earlier ones are left out.
    ///   - connection: A connection.
    /// - Returns: The ids of the lost tries.
    /// - Throws: `PostgresError`.
    static func known(
        from ids: [AttemptID],
        on connection: isolated PostgresConnection
    ) throws -> Set<AttemptID> {
        let rows = try connection.query(
            """
            SELECT found.attempt_id
            FROM unnest(\(ids.map(\.bytes)), \(ids.map(\.lastOfPeriod.bytes))) AS u (first, last)
            JOIN found_attempts found ON found.attempt_id BETWEEN u.first AND u.last
            """
        )
        return Set(try rows.map { AttemptID(bytes: try $0.decode(SIMD16<UInt8>.self)) })
    }

    /// Writes that the processor was asked for the lost tries of charges.
    ///
    /// A charge whose try was found takes its id, so that all that the processor tells of it fits. It does
    /// not if another charge has taken that try over. Then it also may not have the same id by itself.
    ///
    /// - Parameters:
    ///   - findings: What was found.
    ///   - connection: A connection.
    /// - Returns: The ids that those charges have which were in doubt until now, by their transactions.
    /// - Throws: `PostgresError`.
    static func end(
        _ findings: [Finding],
        on connection: isolated PostgresConnection
    ) throws -> [TransactionID: AttemptID] {
        let rows = try connection.query(
            """
            WITH asked AS MATERIALIZED (
                SELECT a.transaction_id, a.number, u.lost, u.unused
                FROM unnest(
                    \(findings.map(\.key.transactionID.number)),
                    \(findings.map { Int32($0.key.number) }),
                    \(findings.map(\.unused.bytes)), \(padded: findings.map { $0.lost?.bytes }))
                    AS u (transaction_id, number, unused, lost)
                JOIN processor_attempts a
                    ON a.transaction_id = u.transaction_id AND a.number = u.number
                WHERE a.kind = 'charge' AND a.step = 'calling' AND a.doubted_since IS NOT NULL
                FOR UPDATE OF a
            ), found AS (
                INSERT INTO found_attempts (attempt_id, transaction_id)
                SELECT lost, transaction_id FROM asked WHERE lost IS NOT NULL
                ON CONFLICT (attempt_id) DO NOTHING
                RETURNING attempt_id, transaction_id
            )
            UPDATE processor_attempts AS a SET
                attempt_id = CASE
                    WHEN found.attempt_id IS NOT NULL THEN found.attempt_id
                    WHEN EXISTS (
                        SELECT FROM found_attempts known
                        WHERE known.attempt_id = a.attempt_id
                            AND known.transaction_id <> a.transaction_id
                    ) THEN asked.unused
                    ELSE a.attempt_id END,
                first_called_at = CASE WHEN found.attempt_id IS NULL
                    THEN a.first_called_at ELSE a.doubted_since END,
                doubted_since = NULL
            FROM asked LEFT JOIN found ON found.transaction_id = asked.transaction_id
            WHERE a.transaction_id = asked.transaction_id AND a.kind = 'charge'
                AND a.number = asked.number
            RETURNING a.transaction_id, a.attempt_id
            """
        )
        var ids: [TransactionID: AttemptID] = [:]
        for row in rows {
            let (transaction, id) = try row.decode(Int64.self, SIMD16<UInt8>.self)
            ids[TransactionID(number: transaction)] = AttemptID(bytes: id)
        }
        return ids
    }
}
