import EventTypes
import Messaging
import Postgres

/// The table of the store's memory, which has one row.
enum BookGapStore {
    /// Reads the memory; `nil` if the store is new.
    static func reading() -> PostgresReading<BookMemory?> {
        PostgresReading("SELECT seen_at, gap_began_at, gap_ended_at FROM book_memory") { rows in
            try rows.first.map { try memory(in: $0) }
        }
    }

    /// Reads the memory and locks it; a new store has one from then on.
    ///
    /// - Parameters:
    ///   - time: The present.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The memory.
    /// - Throws: `PostgresError`.
    static func lock(
        at time: MachineTime,
        on connection: isolated PostgresConnection
    ) throws -> BookMemory {
        try connection.execute(
            "INSERT INTO book_memory (seen_at) VALUES (\(time)) ON CONFLICT (one) DO NOTHING"
        )
        let rows = try connection.query(
            "SELECT seen_at, gap_began_at, gap_ended_at FROM book_memory FOR UPDATE"
        )
        return try rows.first.map { try memory(in: $0) } ?? BookMemory(seenAt: time)
    }

    /// Writes the memory, which is locked.
    static func save(
        _ memory: BookMemory,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            UPDATE book_memory SET seen_at = \(memory.seenAt),
                gap_began_at = \(memory.gap?.start as MachineTime?),
                gap_ended_at = \(memory.gap?.end as StoreTime?)
            """
        )
    }

    /// Notes of all open attempts that the processor may have been called for them in a time that the books
    /// have lost, and of those to renew that a later try may have charged by then.
    ///
    /// - Parameters:
    ///   - start: The beginning of the silence. An attempt for which a call may have been made before is in
    ///     doubt since that call. If an older version made it, nobody knows the time.
    ///   - connection: A connection in a database transaction.
    /// - Throws: `PostgresError`.
    static func doubtOpenAttempts(
        since start: MachineTime,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            UPDATE processor_attempts SET is_uncalled = false,
                doubted_since = CASE WHEN kind = 'charge' AND renewal_try > 0 AND step = 'calling'
                    THEN least(doubted_since, \(start), CASE WHEN is_uncalled THEN first_called_at
                        ELSE coalesce(first_called_at, to_timestamp(0)) END)
                    ELSE doubted_since END
            WHERE due_at IS NOT NULL
                AND (is_uncalled OR kind = 'charge' AND renewal_try > 0 AND step = 'calling')
            """
        )
    }

    private static func memory(in row: PostgresRow) throws -> BookMemory {
        let (seenAt, start, end) = try row.decode(
            MachineTime.self,
            MachineTime?.self,
            StoreTime?.self
        )
        return BookMemory(seenAt: seenAt, gap: start.map { BookGap(start: $0, end: end) })
    }
}
