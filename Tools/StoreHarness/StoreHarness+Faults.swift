import Foundation

extension StoreHarness {
    /// The proxies in front of PostgreSQL, for the first instance of each chosen service.
    public var postgresProxies: [StoreService: PostgresProxy] {
        var proxies: [StoreService: PostgresProxy] = [:]
        for service in StoreService.allCases {
            proxies[service] = instanceProxies[service.instanceName(1)]
        }
        return proxies
    }

    /// Ends all faults that only block progress.
    ///
    /// Frozen processes resume, blocked traffic flows again, and a full disk gets its space back.
    /// Killed processes are not restarted.
    public func relieve() async {
        if ownsCluster {
            // These fail only if nothing is mounted any more or no server is running.
            try? cluster.disk?.makeRoom()
            try? cluster.thaw()
        }
        for node in broker.nodes { broker.thaw(node: node) }
        for process in processes { process.thaw() }
        // This fails only for connections that are closed in the meantime.
        try? await kafkaProxy?.lighten()
        for proxy in instanceProxies.values { try? await proxy.lighten() }
    }

    /// Whether only this store uses the PostgreSQL server.
    var ownsCluster: Bool {
        if case .shared = options.database { false } else { true }
    }
}
