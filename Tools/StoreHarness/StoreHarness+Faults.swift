import Foundation

extension StoreHarness {
    /// In front of PostgreSQL, for the first instance of each service that was named.
    public var postgresProxies: [StoreService: PostgresProxy] {
        var proxies: [StoreService: PostgresProxy] = [:]
        for service in StoreService.allCases {
            proxies[service] = instanceProxies[service.instanceName(1)]
        }
        return proxies
    }

    /// Ends everything that only holds something up.
    ///
    /// What is frozen goes on, what is dark is light again, and a full disk gets its room back. What was
    /// killed stays so.
    public func relieve() async {
        if ownsCluster {
            // Refused only where nothing is mounted any more, or no server runs.
            try? cluster.disk?.makeRoom()
            try? cluster.thaw()
        }
        for node in broker.nodes { broker.thaw(node: node) }
        for process in processes { process.thaw() }
        // Fails only for connections that are closed meanwhile.
        try? await kafkaProxy?.lighten()
        for proxy in instanceProxies.values { try? await proxy.lighten() }
    }

    /// Whether the PostgreSQL server is this store's alone.
    private var ownsCluster: Bool {
        if case .shared = options.database { false } else { true }
    }
}
