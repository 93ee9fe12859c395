public import Postgres

/// How far a service's events are published: two equal marks without a backlog say that the service
/// has said nothing in between.
///
/// It costs one look at one row, however many events there are.
public struct OutboxMark: Hashable, Sendable {
    private let xid: UInt64
    private let position: Int64
    /// Whether something is committed and not published yet.
    public let hasBacklog: Bool

    /// Reads the mark of a connection's database.
    ///
    /// - Throws: `PostgresError`, or ``MessagingError`` where the migrations have not run.
    public init(on connection: isolated PostgresConnection) throws {
        let rows = try connection.query(
            """
            SELECT cursor.xid, cursor.position, EXISTS (
                SELECT FROM outbox WHERE (xid, position) > (cursor.xid, cursor.position)
            )
            FROM relay_cursor AS cursor
            """
        )
        guard let row = rows.first else {
            throw MessagingError(.notMigrated, "relay_cursor has no row; run the migrations")
        }
        (xid, position, hasBacklog) = try row.decode(UInt64.self, Int64.self, Bool.self)
    }
}
