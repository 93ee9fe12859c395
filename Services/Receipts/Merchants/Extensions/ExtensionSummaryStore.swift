import EventTypes
import Postgres

/// The table of requests to extend all subscribers of a product whose summaries were made.
enum ExtensionSummaryStore {
    /// Notes that the summary of a request is made.
    ///
    /// - Returns: Whether it is the first time.
    static func note(
        _ number: Int64,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        try !connection.query(
            """
            INSERT INTO extension_summaries (number, made_at) VALUES (\(number), \(now))
            ON CONFLICT (number) DO NOTHING RETURNING number
            """
        ).isEmpty
    }
}
