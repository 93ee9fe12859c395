import Foundation

/// The output and the exit of a program.
public struct ProgramAnswer: Sendable, CustomStringConvertible {
    /// The way in which it ended.
    public let exit: ChildProcess.Exit
    /// The standard output and the standard error in order of arrival.
    public let output: String

    /// The exit and the output.
    public var description: String { "\(exit)\n\(output)" }
}

extension StoreHarness {
    /// The environment for `counterfoil` as the operator of this store.
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
    ///   - arguments: The arguments after the name.
    ///   - settings: Variables that override the store's own.
    /// - Returns: The output with any exit code.
    /// - Throws: An error if it cannot be started.
    public func counterfoil(
        _ arguments: String...,
        settings: [String: String] = [:]
    ) async throws -> ProgramAnswer {
        try await counterfoil(arguments, settings: settings)
    }

    /// Does the same with a list of arguments.
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
