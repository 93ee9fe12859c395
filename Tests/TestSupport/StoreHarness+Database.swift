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
