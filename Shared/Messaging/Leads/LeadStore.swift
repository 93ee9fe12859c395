public import Postgres

/// The SQL of leads.
public enum LeadStore {
    /// Takes the next term.
    ///
    /// - Parameters:
    ///   - name: The name of the work.
    ///   - holder: Tracks the leader's progress.
    ///   - connection: The session that holds the lock.
    /// - Returns: The lead.
    /// - Throws: `PostgresError`.
    static func take(
        _ name: String,
        _ holder: LockHolder,
        on connection: isolated PostgresConnection
    ) throws -> Lead {
        let rows = try connection.query(
            """
            INSERT INTO leads (name, term) VALUES (\(name), 1)
            ON CONFLICT (name) DO UPDATE SET term = leads.term + 1, taken_at = now()
            RETURNING term
            """
        )
        guard let row = rows.first else {
            throw MessagingError(.notMigrated, "leads gave no term; run the migrations")
        }
        return Lead(name: name, term: try row.decode(Int64.self), holder: holder)
    }

    /// Lets a database transaction commit only if it belongs to the newest leader.
    ///
    /// Nobody can take over the lead between this call and the end of the database transaction.
    ///
    /// - Throws: ``MessagingError`` with ``MessagingError/Code/leadLost``; `PostgresError`.
    public static func require(
        _ lead: Lead,
        on connection: isolated PostgresConnection
    ) throws {
        guard try !connection.query("\(fence: lead)").isEmpty else { throw lead.lost }
    }
}

extension SQL.StringInterpolation {
    /// Appends a query that returns one row while a lead is the newest.
    ///
    /// The query blocks the next leader's first statement until the surrounding statement or
    /// database transaction ends.
    mutating func appendInterpolation(fence lead: Lead) {
        appendLiteral("SELECT term FROM leads WHERE name = ")
        appendInterpolation(lead.name)
        appendLiteral(" AND term = ")
        appendInterpolation(lead.term)
        appendLiteral(" FOR SHARE")
    }
}
