public import CoreMetrics
import Synchronization

/// Keeps a process's metrics and writes them in Prometheus' text format.
///
/// Counters become `…_total`, timers `…_seconds` histograms, recorders histograms, and meters and
/// plain recorders gauges. Two metrics of one label and the same dimensions are one series. The
/// number of series is limited; further series are dropped and counted.
public final class PrometheusMetrics: MetricsFactory {
    /// The metrics of this process, which ``runService(_:compose:migrate:rebuild:further:)``
    /// collects and `/metrics` shows.
    public static let shared = PrometheusMetrics()

    /// The upper bounds of a timer's buckets, in seconds.
    static let timerBounds: [Double] = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    /// The upper bounds of a recorder's buckets.
    static let recorderBounds: [Double] = [
        1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000,
    ]

    private struct Registry {
        var series: [SeriesID: any Series] = [:]
        var dropped = 0
    }

    private let registry = Mutex(Registry())
    private let seriesMax: Int

    /// Makes an empty set of metrics.
    ///
    /// - Parameter seriesMax: The largest number of series.
    public init(seriesMax: Int = 5000) {
        self.seriesMax = seriesMax
    }

    /// Makes or finds a counter.
    public func makeCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any CounterHandler {
        let made = series(label, dimensions, suffix: "_total") { CounterSeries() }
        return made as? CounterSeries ?? CounterSeries()
    }

    /// Makes or finds a gauge, or a histogram if the recorder aggregates.
    public func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        guard aggregate else {
            let made = series(label, dimensions, suffix: "") { GaugeSeries() }
            return made as? GaugeSeries ?? GaugeSeries()
        }
        let made = series(label, dimensions, suffix: "") {
            HistogramSeries(bounds: Self.recorderBounds)
        }
        return made as? HistogramSeries ?? HistogramSeries(bounds: Self.recorderBounds)
    }

    /// Makes or finds a gauge.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        let made = series(label, dimensions, suffix: "") { GaugeSeries() }
        return made as? GaugeSeries ?? GaugeSeries()
    }

    /// Makes or finds a histogram of durations.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let made = series(label, dimensions, suffix: "_seconds") {
            HistogramSeries(bounds: Self.timerBounds)
        }
        return made as? HistogramSeries ?? HistogramSeries(bounds: Self.timerBounds)
    }

    /// Keeps the series.
    ///
    /// It may be shared, and a counter that vanishes would seem to restart.
    public func destroyCounter(_ handler: any CounterHandler) {}
    /// Keeps the series.
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    /// Keeps the series.
    public func destroyMeter(_ handler: any MeterHandler) {}
    /// Keeps the series.
    public func destroyTimer(_ handler: any TimerHandler) {}

    /// All metrics in Prometheus' text format, sorted by name.
    public func exposition() -> String {
        let (series, dropped) = registry.withLock { (Array($0.series), $0.dropped) }
        var text = ""
        var lastName = ""
        for (id, one) in series.sorted(by: { $0.key < $1.key }) {
            if id.name != lastName {
                text += "# TYPE \(id.name) \(one.type)\n"
                lastName = id.name
            }
            one.write(id, to: &text)
        }
        text += "# TYPE metrics_series_dropped_total counter\n"
        text += "metrics_series_dropped_total \(dropped)\n"
        text += processMetrics()
        return text
    }

    private func series(
        _ label: String,
        _ dimensions: [(String, String)],
        suffix: String,
        make: () -> any Series
    ) -> (any Series)? {
        let id = SeriesID(label: label, suffix: suffix, dimensions: dimensions)
        return registry.withLock { registry in
            if let known = registry.series[id] { return known }
            guard registry.series.count < seriesMax else {
                registry.dropped += 1
                return nil
            }
            let made = make()
            registry.series[id] = made
            return made
        }
    }
}

/// The name and the labels of a series, in their written form.
struct SeriesID: Hashable, Comparable {
    let name: String
    /// `a="1",b="2"`, or nothing.
    let labels: String

    init(label: String, suffix: String, dimensions: [(String, String)]) {
        let name = Self.sanitized(label)
        self.name = name.hasSuffix(suffix) ? name : name + suffix
        labels = dimensions.map { "\(Self.sanitized($0.0))=\"\(Self.escaped($0.1))\"" }
            .joined(separator: ",")
    }

    static func < (left: SeriesID, right: SeriesID) -> Bool {
        (left.name, left.labels) < (right.name, right.labels)
    }

    /// `{a="1"}` with a further label, or nothing.
    func braces(adding label: String = "") -> String {
        let all = [labels, label].filter { !$0.isEmpty }.joined(separator: ",")
        return all.isEmpty ? "" : "{\(all)}"
    }

    private static func sanitized(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "_": text.unicodeScalars.append(scalar)
            case "0"..."9": text += text.isEmpty ? "_\(scalar)" : "\(scalar)"
            default: text += "_"
            }
        }
        return text
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}
