import Postgres
import StoreHarness

/// The lower bounds of a purchase's latency: the broker's own latency, and one commit.
struct BenchPing: Sendable {
    /// The time of a message to a consumer, and of the answer back.
    let pingPong: Latencies
    /// The time through all topics between a payment's answer and its observer.
    let wholeWay: Latencies
    /// The time to commit one row in a separate session.
    let commit: Latencies

    /// Measures while the store is idle.
    static func measure(_ store: StoreHarness, count: Int) async throws -> BenchPing {
        let relay = try await BrokerRelay.open(on: store)
        var ways: [[Duration]] = []
        for _ in 0..<count { ways.append(try await relay.run()) }
        await relay.close()
        let commits = try await store.withDatabase(of: .payments) { connection in
            try connection.execute("CREATE TABLE IF NOT EXISTS one_row_commits (at timestamptz)")
            var times: [Duration] = []
            for _ in 0..<count {
                let start = ContinuousClock.now
                try connection.execute("INSERT INTO one_row_commits VALUES (now())")
                times.append(.now - start)
            }
            return times
        }
        return BenchPing(
            pingPong: Latencies(ways.map { $0.prefix(2).reduce(.zero, +) }),
            wholeWay: Latencies(ways.map { $0.reduce(.zero, +) }),
            commit: Latencies(commits)
        )
    }

    /// The ratio of a p99, minus one commit, to the broker's ping-pong.
    func ratio(of p99: Double) -> Double { (p99 - commit.p50) / pingPong.p99 }

    /// The latencies as rows of a table.
    var rows: [(name: String, latencies: Latencies)] {
        [
            ("the broker's ping-pong", pingPong), ("the broker's whole way", wholeWay),
            ("one commit", commit),
        ]
    }
}
