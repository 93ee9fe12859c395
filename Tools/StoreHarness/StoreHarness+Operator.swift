import Foundation

/// What a program said, and how it ended.
public struct ProgramAnswer: Sendable, CustomStringConvertible {
    /// How it ended.
    public let exit: ChildProcess.Exit
    /// Its standard output and its standard error, as they came.
    public let output: String

    /// Both.
    public var description: String { "\(exit)\n\(output)" }
}

extension StoreHarness {
    /// What `counterfoil` has to know of this store, as its operator.
    public var operatorEnvironment: [String: String] {
        let urls = urls
        var environment = [
            "COUNTERFOIL_CATALOG_URL": urls.catalog,
            "COUNTERFOIL_PAYMENTS_URL": urls.payments,
            "COUNTERFOIL_RECEIPTS_URL": urls.receipts,
            "COUNTERFOIL_FULFILLMENT_URL": urls.fulfillment,
            "COUNTERFOIL_KEYS": keys.directory,
            "COUNTERFOIL_SHADOW_DATABASE_URL": shadowDatabaseURL,
            "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers,
            "KAFKA_PROPERTIES": TestBroker.properties.map { "\($0)=\($1)" }
                .joined(separator: ","),
        ]
        for service in StoreService.allCases {
            environment["COUNTERFOIL_\(service.rawValue.uppercased())_DATABASE_URL"] =
                databaseURL(service, role: PostgresCluster.operatorRole)
            environment["COUNTERFOIL_ARCHIVIST_\(service.rawValue.uppercased())_DATABASE_URL"] =
                databaseURL(service, role: PostgresCluster.archivistRole)
        }
        return environment
    }

    /// Runs `counterfoil` as the store's operator, to its end.
    ///
    /// - Parameters:
    ///   - arguments: What follows the name.
    ///   - settings: Variables over the store's own.
    /// - Returns: What it said, whatever its exit code.
    /// - Throws: An error when it cannot be started.
    public func counterfoil(
        _ arguments: String...,
        settings: [String: String] = [:]
    ) async throws -> ProgramAnswer {
        try await counterfoil(arguments, settings: settings)
    }

    /// The same with a list of arguments.
    public func counterfoil(
        _ arguments: [String],
        settings: [String: String] = [:]
    ) async throws -> ProgramAnswer {
        let logPath = NSTemporaryDirectory() + "/counterfoil-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: logPath) }  // A leftover does no harm.
        var environment = operatorEnvironment.merging(settings) { $1 }
        for name in ["PATH", "HOME", "LD_LIBRARY_PATH"] {
            environment[name] = ProcessInfo.processInfo.environment[name]
        }
        let child = try await ChildProcess.start(
            try BuiltExecutables.path("counterfoil"),
            arguments,
            environment: environment,
            logPath: logPath
        )
        let exit = await child.exit()
        return ProgramAnswer(
            exit: exit,
            output: (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? ""
        )
    }
}
