import Logging
public import Postgres

extension StoreHarness {
    /// Runs statements in a service's database, as its owner.
    ///
    /// - Parameters:
    ///   - service: The service of the database.
    ///   - role: Another role to use.
    ///   - body: Receives the connection. Each statement commits by itself.
    /// - Returns: The result of the body.
    /// - Throws: An error of the body or of the connection.
    public func withDatabase<Result: Sendable>(
        of service: StoreService,
        role: String = PostgresCluster.owner,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> Result
    ) async throws -> Result {
        try await withOwnerClient(databaseURL(service, role: role)) { client in
            try await client.withConnection(body)
        }
    }
}

/// Runs a body with a separate connection pool.
func withOwnerClient<Result: Sendable>(
    _ url: String,
    _ body: @escaping @Sendable (PostgresClient) async throws -> Result
) async throws -> Result {
    let client = PostgresClient(
        settings: PostgresSettings(
            url: url,
            applicationName: "tests",
            poolSize: 1,
            statementTimeout: .seconds(120)
        ),
        logger: Logger(label: "tests", factory: { _ in SwiftLogNoOpLogHandler() })
    )
    return try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask {
            try await client.run()
            return nil
        }
        group.addTask { try await body(client) }
        defer { group.cancelAll() }
        while let result = try await group.next() {
            if let result { return result }
        }
        throw HarnessError("The connections to \(url) ended.")
    }
}
