public import Postgres

/// A mark of how far a service's events are published.
///
/// If two marks are equal and neither has a backlog, the service appended no events in between.
/// Reading a mark costs the same however many events there are.
public struct OutboxMark: Hashable, Sendable {
    private let xid: UInt64
    private let position: Int64
    /// Whether an event is committed but not yet published.
    public let hasBacklog: Bool

    /// Reads the mark from the connection's database.
    ///
    /// - Throws: `PostgresError`, or ``MessagingError`` if the migrations have not run.
    public init(on connection: isolated PostgresConnection) throws {
        let rows = try connection.query(
            """
            SELECT place.xid, place.position, EXISTS (
                SELECT FROM outbox WHERE (xid, position) > (place.xid, place.position)
            )
            FROM relay_place AS place
            """
        )
        guard let row = rows.first else {
            throw MessagingError(.notMigrated, "relay_place has no row; run the migrations")
        }
        (xid, position, hasBacklog) = try row.decode(UInt64.self, Int64.self, Bool.self)
    }
}
