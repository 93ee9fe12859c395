/// The clusters that stores borrow, one after another.
///
/// They are separate from the cluster of the other tests, and each of the four stores that `make test`
/// runs at a time has one of its own: an open database transaction holds back every relay in the same
/// cluster. Each cluster takes memory, so from the fifth store at a time on they are shared.
actor StoreClusters {
    static let shared = StoreClusters()
    private static let most = 4

    private struct Entry {
        let start: Task<PostgresCluster, any Error>
        var stores: Int
    }

    private var entries: [Entry] = []

    /// Lends a cluster without a store, or else the one with the fewest; starts it if need be.
    func lend() async throws -> PostgresCluster {
        var chosen = entries.indices.min { entries[$0].stores < entries[$1].stores }
        if entries.count < Self.most, chosen.map({ entries[$0].stores > 0 }) ?? true {
            chosen = entries.count
            entries.append(Entry(start: Task { try await Self.start() }, stores: 0))
        }
        guard let chosen else { throw HarnessError("No cluster may be started.") }
        entries[chosen].stores += 1
        return try await entries[chosen].start.value
    }

    /// Takes a cluster back from a store.
    func takeBack(_ cluster: PostgresCluster) async {
        // A cluster that did not start was given to nobody.
        for index in entries.indices
        where (try? await entries[index].start.value)?.port == cluster.port {
            entries[index].stores -= 1
        }
    }

    private static func start() async throws -> PostgresCluster {
        let directory = try TemporaryClusters.makeDirectory()
        TemporaryClusters.removeAtExit(directory)
        let cluster = try PostgresCluster(directory: directory, isDurable: false)
        try await ClusterTemplate.create(cluster)
        try await cluster.start()
        return cluster
    }
}
