import Postgres
import StoreHarness

/// The processor time of a store that runs while nobody uses it.
struct BenchIdle: Sendable {
    /// The measured time.
    let seconds: Double
    /// The cost of each process in that time.
    let costs: [ProcessCost]

    /// The processor time of a process, in percent of one core.
    func percent(of cost: ProcessCost) -> Double { cost.cpuSeconds / seconds * 100 }

    /// The processor time of the four services and PostgreSQL, in percent of one core.
    var percent: Double {
        let names = Set(
            StoreService.allCases.map(\.rawValue)
                + [ProcessCost.postgresql, ProcessCost.endedPostgreSQL]
        )
        return costs.filter { names.contains($0.name) }.map(percent(of:)).reduce(0, +)
    }

    /// Measures a store whose services run.
    ///
    /// Before that, PostgreSQL does the work that is left of earlier purchases: it removes dead rows
    /// and writes changed pages to disk.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - seconds: The time to measure.
    /// - Returns: The cost.
    /// - Throws: An error of PostgreSQL, or `CancellationError`.
    static func measure(_ store: StoreHarness, seconds: Int) async throws -> BenchIdle {
        try await store.vacuum()
        try await store.cluster.asSuperuser { connection in try connection.execute("CHECKPOINT") }
        let before = ProcessCost.usages(of: store)
        let start = ContinuousClock.now
        try await Task.sleep(for: .seconds(seconds))
        return BenchIdle(
            seconds: (ContinuousClock.now - start).seconds,
            costs: ProcessCost.costs(of: store, since: before)
        )
    }
}
