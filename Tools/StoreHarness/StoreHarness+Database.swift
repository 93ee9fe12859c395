import Logging
public import Postgres

extension StoreHarness {
    /// Runs statements in a service's database, as its owner.
    ///
    /// - Parameters:
    ///   - service: Whose database.
    ///   - role: Another role to be.
    ///   - body: Gets the connection; each statement commits by itself.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or why there is no connection.
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

/// Runs a body with a connection pool of its own.
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
