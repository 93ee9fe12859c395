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
    /// have lost.
    ///
    /// Those that another process has locked are being taken, or were written after the gap.
    static func noteCalled(on connection: isolated PostgresConnection) throws {
        try connection.execute(
            """
            UPDATE processor_attempts SET is_uncalled = false
            WHERE (transaction_id, kind, number) IN (
                SELECT transaction_id, kind, number FROM processor_attempts
                WHERE is_uncalled AND due_at IS NOT NULL FOR UPDATE SKIP LOCKED)
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
