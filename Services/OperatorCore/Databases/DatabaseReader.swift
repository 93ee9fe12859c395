package import EventTypes
package import Postgres

/// Sessions with the services' databases, as the operator's own role.
package enum DatabaseReader {
    /// Runs a body with a session of its own.
    ///
    /// - Parameters:
    ///   - address: The database.
    ///   - statementTimeout: The longest time for one statement.
    ///   - body: Gets the connection; each statement commits by itself.
    /// - Returns: What the body returns.
    /// - Throws: ``OperatorError`` that says which database, and what to do; or what the body throws
    ///   beside `PostgresError`.
    package static func withSession<R: Sendable>(
        _ address: DatabaseAddress,
        statementTimeout: Duration = .seconds(30),
        _ body: (PostgresConnection) async throws -> R
    ) async throws -> R {
        do {
            let settings = PostgresSettings(
                url: address.url,
                applicationName: "counterfoil",
                poolSize: 1,
                statementTimeout: statementTimeout,
                // Every query reads by key or by range.
                prefersIndexes: true
            )
            try settings.validate()
            return try await Postgres.withSession(settings, body)
        } catch let error as PostgresError {
            throw OperatorError(error, at: address)
        }
    }

    /// Reads from one snapshot of a database, and can change nothing.
    ///
    /// It blocks nothing: PostgreSQL assigns no id to a read-only database transaction, so relays
    /// do not wait for it.
    package static func read<R: Sendable>(
        _ address: DatabaseAddress,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> R
    ) async throws -> R {
        try await withSession(address) { connection in
            try await connection.beginSnapshot()
            return try await connection.run(body)
        }
    }

    /// Reads the store's time, by the clock in the database of `payments`.
    package static func storeTime(_ databases: DatabaseAddresses) async throws -> StoreTime {
        try await read(databases.address(of: .payments)) { try StoreClockStore.now(on: $0) }
    }

    /// Changes something in one database transaction.
    package static func change<R: Sendable>(
        _ address: DatabaseAddress,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> R
    ) async throws -> R {
        try await withSession(address) { connection in
            try await connection.inTransaction(body)
        }
    }
}

extension PostgresConnection {
    /// Runs a body on the connection's thread.
    package func run<R: Sendable>(
        _ body: @Sendable (isolated PostgresConnection) throws -> R
    ) rethrows -> R {
        try body(self)
    }
}

extension OperatorError {
    /// Translates a database's failure for the operator.
    package init(_ error: PostgresError, at address: DatabaseAddress) {
        let name = "The database of \(address.service.rawValue)"
        let reason = error.reason
        switch error.code {
        case .configuration:
            self.init(.usage, "\(address.variable) is not a connection URL of PostgreSQL.")
        case .connectFailed where Self.refusesCredentials(reason):
            self.init(
                .refusedCredentials,
                """
                \(name) at \(address.place) refuses the credentials: \(reason)
                Set \(address.variable) to the role \(address.role) and its password.
                """
            )
        case .insufficientPrivilege:
            self.init(
                .refusedCredentials,
                """
                \(name) does not allow this role to do that: \(reason)
                Set \(address.variable) to the role \(address.role); '\(address.service.rawValue) \
                migrate' grants it what it needs.
                """
            )
        case .connectFailed, .connectionLost, .statementTimeout, .lockTimeout, .serverBusy,
            .readOnly, .cancelled:
            self.init(
                .unavailable,
                """
                \(name) cannot be used at \(address.place): \(reason)
                Set \(address.variable) if it is elsewhere.
                """
            )
        case .server where ["42P01", "42703"].contains(error.sqlState):
            self.init(
                .failed,
                """
                \(name) at \(address.place) lacks what this version reads: \(reason)
                Run '\(address.service.rawValue) migrate' of the same version, or set \
                \(address.variable) if it is another database.
                """
            )
        case .server where error.sqlState == "55000":
            // An exception that a function of the database raised.
            self.init(.failed, "\(name) refuses the command: \(reason)")
        default:
            self.init(.failed, "\(name) at \(address.place) failed: \(error)")
        }
    }

    /// Whether the server refused the connection's credentials; a failed connection has no
    /// SQLSTATE.
    private static func refusesCredentials(_ reason: String) -> Bool {
        let signs = [
            "authentication failed", "no password supplied", "no pg_hba.conf entry",
            "permission denied for database",
        ]
        return signs.contains { reason.contains($0) }
            || (reason.contains("role \"") && reason.contains("does not exist"))
    }
}

extension PostgresError {
    /// The message, without the code.
    fileprivate var reason: String {
        let text = description
        guard let colon = text.firstRange(of: ": ") else { return text }
        return String(text[colon.upperBound...])
    }
}
