import Foundation

/// How long something took, measured many times.
struct Latencies: Sendable {
    private let sorted: [Double]

    /// Takes times in milliseconds, in any order.
    init(milliseconds: [Double]) {
        sorted = milliseconds.sorted()
    }

    /// Takes times in any order.
    init(_ times: [Duration]) {
        self.init(milliseconds: times.map(\.milliseconds))
    }

    /// The time in milliseconds that this fraction of all did not exceed; 0 if nothing was measured.
    func quantile(_ fraction: Double) -> Double {
        guard !sorted.isEmpty else { return 0 }
        return sorted[min(sorted.count - 1, Int(fraction * Double(sorted.count)))]
    }

    /// What half of all did not exceed.
    var p50: Double { quantile(0.5) }
    /// What all but one in a hundred did not exceed.
    var p99: Double { quantile(0.99) }
    /// What all but one in a thousand did not exceed.
    var p999: Double { quantile(0.999) }
}

extension Terminal {
    /// A table of latencies.
    ///
    /// - Parameter rows: Each with its name, such as `asked → answered`.
    func table(of rows: [(name: String, latencies: Latencies)]) {
        table(
            [["from → to", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms", "max ms"]]
                + rows.map { name, latencies in
                    [name]
                        + [0.5, 0.9, 0.99, 0.999, 1].map {
                            String(format: "%.1f", latencies.quantile($0))
                        }
                },
            rightAligned: [1, 2, 3, 4, 5]
        )
    }
}

extension Duration {
    /// The duration in seconds.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }

    /// The duration in milliseconds.
    var milliseconds: Double { seconds * 1000 }
}
