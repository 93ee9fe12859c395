import Postgres

/// What `payments` knows of accounts, and what `fulfillment` tells their clients.
struct AccountBooks: Sendable {
    /// The version of each account in each app.
    let versions: [String: Int32]

    /// Reads what `payments` has; an account that nothing was said of has no version to tell.
    static func known(on connection: isolated PostgresConnection) throws -> AccountBooks {
        try AccountBooks(
            rows: connection.query(
                """
                SELECT account_id || ' in ' || bundle_id, version FROM accounts WHERE version > 0
                """
            )
        )
    }

    /// Reads what `fulfillment` has.
    static func told(on connection: isolated PostgresConnection) throws -> AccountBooks {
        try AccountBooks(
            rows: connection.query(
                "SELECT account_id || ' in ' || bundle_id, version FROM queue_accounts"
            )
        )
    }

    private init(rows: PostgresRows) throws {
        var versions: [String: Int32] = [:]
        for row in rows {
            let (account, version) = try row.decode(String.self, Int32.self)
            versions[account] = version
        }
        self.versions = versions
    }

    /// Checks that clients are told of every account at the version that it has.
    func check(_ report: inout AuditReport, told: AccountBooks) {
        report.count("accounts", versions.count)
        for (account, version) in versions where told.versions[account] ?? 0 < version {
            report.add(.lost, account, "at version \(version), and its queue does not tell it")
        }
        for (account, version) in told.versions where versions[account] ?? 0 < version {
            report.add(.wrong, account, "told at version \(version), which payments does not know")
        }
    }
}
