public import Postgres

/// The SQL of leads.
public enum LeadStore {
    /// Draws the next term.
    ///
    /// - Parameters:
    ///   - name: What is led.
    ///   - holder: Shows that the leader moves.
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

    /// Lets a database transaction commit only as the newest leader's: nobody takes over between this
    /// and its end.
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
    /// The query that has one row while a lead is the newest, and holds the next leader's first
    /// statement back until the statement or the database transaction it stands in is over.
    mutating func appendInterpolation(fence lead: Lead) {
        appendLiteral("SELECT term FROM leads WHERE name = ")
        appendInterpolation(lead.name)
        appendLiteral(" AND term = ")
        appendInterpolation(lead.term)
        appendLiteral(" FOR SHARE")
    }
}
