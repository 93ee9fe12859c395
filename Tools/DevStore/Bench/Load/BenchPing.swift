import Postgres
import StoreHarness

/// What a purchase cannot be quicker than: the broker's own way, and one commit.
struct BenchPing: Sendable {
    /// A message's way to a consumer, and that of the answer back.
    let pingPong: Latencies
    /// The way through all topics between a payment's answer and its observer.
    let wholeWay: Latencies
    /// One row committed in a session of its own.
    let commit: Latencies

    /// Measures with the store idle.
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

    /// How many times the broker's ping-pong a p99 is, one commit taken off.
    func ratio(of p99: Double) -> Double { (p99 - commit.p50) / pingPong.p99 }

    /// For a table.
    var rows: [(name: String, latencies: Latencies)] {
        [
            ("the broker's ping-pong", pingPong), ("the broker's whole way", wholeWay),
            ("one commit", commit),
        ]
    }
}
