import Foundation

/// The latencies of many repetitions.
struct Latencies: Sendable {
    private let sorted: [Double]

    /// Whether nothing was measured.
    var isEmpty: Bool { sorted.isEmpty }

    /// Makes latencies from milliseconds in any order.
    init(milliseconds: [Double]) {
        sorted = milliseconds.sorted()
    }

    /// Makes latencies from durations in any order.
    init(_ times: [Duration]) {
        self.init(milliseconds: times.map(\.fractionalMilliseconds))
    }

    /// Returns the quantile for a fraction in milliseconds; 0 if nothing was measured.
    func quantile(_ fraction: Double) -> Double {
        guard !sorted.isEmpty else { return 0 }
        return sorted[min(sorted.count - 1, Int(fraction * Double(sorted.count)))]
    }

    /// The median.
    var p50: Double { quantile(0.5) }
    /// The 99th percentile.
    var p99: Double { quantile(0.99) }
    /// The 99.9th percentile.
    var p999: Double { quantile(0.999) }
}

extension Terminal {
    /// A table of latencies, with a dash where nothing was measured.
    ///
    /// - Parameter rows: The latencies with their names, such as `asked → answered`.
    func table(of rows: [(name: String, latencies: Latencies)]) {
        table(
            [["from → to", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms", "max ms"]]
                + rows.map { name, latencies in
                    [name]
                        + [0.5, 0.9, 0.99, 0.999, 1].map {
                            latencies.isEmpty ? "–" : String(format: "%.1f", latencies.quantile($0))
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

    /// The duration in milliseconds, with a fraction.
    var fractionalMilliseconds: Double { seconds * 1000 }
}
