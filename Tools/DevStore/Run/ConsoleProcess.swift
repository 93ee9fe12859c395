import StoreHarness

/// The console beside the store of `devstore run`, in which people may act.
enum ConsoleProcess {
    /// The port, after those of the services and the storefront.
    static let port = 8086
    /// The address for a browser.
    static let origin = "http://127.0.0.1:\(port)"

    /// Starts the console and waits until it answers.
    ///
    /// - Parameter store: The store, whose books it reads as the operator.
    /// - Returns: The running console.
    /// - Throws: ``HarnessError`` if it does not start.
    static func start(beside store: StoreHarness) async throws -> CompanionProcess {
        var settings = [
            "HTTP_PORT": "\(port)", "CONSOLE_ORIGIN": origin, "CONSOLE_READ_ONLY": "false",
            "ADMIN_KEYS_DIRECTORY": store.keys.directory + "/administrators",
            "CONSOLE_STATE_DIRECTORY": store.directory + "/console",
        ]
        // It reads as a role that can change nothing, and only decides as the operator.
        for service in StoreService.allCases {
            let name = service.rawValue.uppercased()
            settings["COUNTERFOIL_\(name)_DATABASE_URL"] =
                store.databaseURL(service, role: PostgresCluster.readerRole)
            settings["CONSOLE_DECIDING_\(name)_DATABASE_URL"] =
                store.databaseURL(service, role: PostgresCluster.operatorRole)
        }
        return try await CompanionProcess.start(
            "console",
            settings: store.operatorEnvironment.merging(settings) { $1 },
            at: origin + "/sign-in",
            logsIn: store.directory + "/logs"
        )
    }
}
