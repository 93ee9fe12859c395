import Foundation
import StoreHarness

/// The yardstick of this machine: how many generic purchases PostgreSQL alone commits in a second.
///
/// Its SQL is in `deploy/benchmarks/yardstick` and never changes. The ceiling is this project's own
/// SQL and falls when that grows. The yardstick does not, so the rates of all versions can be
/// divided by it.
struct Yardstick: Sendable {
    /// The rate before the load.
    let before: Double
    /// The rate after the load.
    let after: Double

    /// The mean of the two rates.
    var rate: Double { (before + after) / 2 }

    /// A rate, divided by the yardstick's.
    func ratio(of rate: Double) -> Double { rate / self.rate }

    /// Measures the rate in a PostgreSQL cluster of its own.
    ///
    /// - Parameter purchases: The number of generic purchases.
    /// - Returns: The purchases per second.
    /// - Throws: ``HarnessError`` if the script fails.
    static func measure(purchases: Int) async throws -> Double {
        let script = SourceTree.root.appendingPathComponent("deploy/benchmarks/yardstick/run.sh")
        let output = try await ChildProcess.run(
            "/usr/bin/env",
            ["bash", script.path, "\(purchases)"],
            environment: ProcessInfo.processInfo.environment
        )
        return try rate(in: output)
    }

    private struct Output: Decodable {
        let rate: Double

        private enum CodingKeys: String, CodingKey { case rate = "yardstick_purchases_per_second" }
    }

    /// Reads the rate from the script's output, whose last line is JSON.
    static func rate(in output: String) throws -> Double {
        let line = output.split(separator: "\n").last ?? ""
        guard let rate = try? JSONDecoder().decode(Output.self, from: Data(line.utf8)).rate,
            rate > 0
        else { throw HarnessError("The yardstick reported no rate: \(output)") }
        return rate
    }
}
