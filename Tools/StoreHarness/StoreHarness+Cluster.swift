import Foundation

extension StoreHarness {
    /// Starts the PostgreSQL server of a store.
    static func cluster(
        for options: StoreOptions,
        in directory: String
    ) async throws -> PostgresCluster {
        switch options.database {
        case .shared:
            return try await SharedStoreCluster.shared.cluster()
        case .own:
            let directory = try TemporaryClusters.makeDirectory()
            TemporaryClusters.removeAtExit(directory)
            let cluster = try PostgresCluster(
                directory: directory,
                isDurable: options.fsync,
                settings: options.postgresSettings,
                hasOwnDisk: options.hasOwnDisk
            )
            try await cluster.start()
            return cluster
        case .kept(let wanted):
            let directory = PostgresCluster.reachable(wanted)
            if directory != wanted {
                options.progress("PostgreSQL's data in \(directory)", .zero)
            }
            let cluster = try PostgresCluster(directory: directory, isDurable: options.fsync)
            // A killed run may have left it running, possibly on another port.
            if cluster.isRunning { try cluster.stop(.fast) }
            try await cluster.start()
            return cluster
        }
    }
}

/// The cluster that stores share.
///
/// It is separate from the cluster of the other tests, because an open database transaction of one
/// of those tests would hold back every relay in the same cluster.
actor SharedStoreCluster {
    static let shared = SharedStoreCluster()
    private var starting: Task<PostgresCluster, any Error>?

    func cluster() async throws -> PostgresCluster {
        let task =
            starting
            ?? Task {
                let directory = try TemporaryClusters.makeDirectory()
                TemporaryClusters.removeAtExit(directory)
                let cluster = try PostgresCluster(directory: directory, isDurable: false)
                try await cluster.start()
                return cluster
            }
        starting = task
        return try await task.value
    }
}
