import Foundation

extension StoreHarness {
    /// Starts the PostgreSQL server of a store.
    static func cluster(
        for options: StoreOptions,
        in directory: String
    ) async throws -> PostgresCluster {
        switch options.database {
        case .shared:
            return try await StoreClusters.shared.lend()
        case .own:
            let directory = try TemporaryClusters.makeDirectory(isDurable: options.fsync)
            TemporaryClusters.removeAtExit(directory)
            let cluster = try PostgresCluster(
                directory: directory,
                isDurable: options.fsync,
                settings: options.postgresSettings,
                hasOwnDisk: options.hasOwnDisk
            )
            try await ClusterTemplate.create(cluster)
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
