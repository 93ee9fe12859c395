import CoreMetrics
import Foundation
import Synchronization

/// A series of values that can be written.
protocol Series: AnyObject, Sendable {
    /// Prometheus' name for this type of metric.
    var type: String { get }
    /// Appends its lines.
    func write(_ id: SeriesID, to text: inout String)
}

final class CounterSeries: Series, CounterHandler {
    private let value = Atomic<Int64>(0)
    let type = "counter"

    func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { value.store(0, ordering: .relaxed) }

    func write(_ id: SeriesID, to text: inout String) {
        text += "\(id.name)\(id.braces()) \(value.load(ordering: .relaxed))\n"
    }
}

final class GaugeSeries: Series, RecorderHandler, MeterHandler {
    private let bits = Atomic<UInt64>(0)
    let type = "gauge"

    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
    func decrement(by amount: Double) { increment(by: -amount) }

    func increment(by amount: Double) {
        var expected = bits.load(ordering: .relaxed)
        while true {
            let desired = (Double(bitPattern: expected) + amount).bitPattern
            let (exchanged, original) = bits.weakCompareExchange(
                expected: expected,
                desired: desired,
                ordering: .relaxed
            )
            if exchanged { return }
            expected = original
        }
    }

    func write(_ id: SeriesID, to text: inout String) {
        let value = Double(bitPattern: bits.load(ordering: .relaxed))
        text += "\(id.name)\(id.braces()) \(number(value))\n"
    }
}

final class HistogramSeries: Series, RecorderHandler, TimerHandler {
    private struct Values {
        var counts: [Int]
        var sum = 0.0
    }

    let type = "histogram"
    private let bounds: [Double]
    private let values: Mutex<Values>

    init(bounds: [Double]) {
        self.bounds = bounds
        values = Mutex(Values(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func record(_ value: Double) {
        var bucket = 0
        while bucket < bounds.count && value > bounds[bucket] { bucket += 1 }
        values.withLock {
            $0.counts[bucket] += 1
            $0.sum += value
        }
    }

    func write(_ id: SeriesID, to text: inout String) {
        let values = values.withLock { $0 }
        var count = 0
        for (bound, inBucket) in zip(bounds, values.counts) {
            count += inBucket
            text += "\(id.name)_bucket\(id.braces(adding: "le=\"\(number(bound))\"")) \(count)\n"
        }
        count += values.counts[bounds.count]
        text += "\(id.name)_bucket\(id.braces(adding: "le=\"+Inf\"")) \(count)\n"
        text += "\(id.name)_sum\(id.braces()) \(number(values.sum))\n"
        text += "\(id.name)_count\(id.braces()) \(count)\n"
    }
}

/// A number in Prometheus' format, without a needless fraction.
private func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if value == value.rounded(), abs(value) < 1e15 { return String(Int64(value)) }
    return String(value)
}

#if os(Linux)
/// The time at which this process started, in seconds since 1970; `nil` without `/proc`.
///
/// By it, readers tell replicas and restarts apart.
private let processStart: Double? = {
    guard let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
        let name = stat.lastIndex(of: ")"),
        let machine = try? String(contentsOfFile: "/proc/stat", encoding: .utf8),
        let line = machine.split(separator: "\n").first(where: { $0.hasPrefix("btime ") }),
        let boot = Double(line.dropFirst("btime ".count))
    else { return nil }
    // The first field after the name, which may contain spaces, is field 3. Field 22 is the start.
    let fields = stat[stat.index(after: name)...].split(separator: " ")
    guard fields.count > 19, let ticks = Double(fields[19]) else { return nil }
    return boot + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
}()
#endif

/// The metrics that Prometheus' own client libraries report about a process: memory, processor
/// time, descriptors.
func processMetrics() -> String {
    var usage = rusage()
    #if os(Linux)
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #else
    getrusage(RUSAGE_SELF, &usage)
    #endif
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    var text = "# TYPE process_cpu_seconds_total counter\n"
    text += "process_cpu_seconds_total \(seconds(usage.ru_utime) + seconds(usage.ru_stime))\n"
    #if os(Linux)
    if let processStart {
        text += "# TYPE process_start_time_seconds gauge\n"
        text += "process_start_time_seconds \(processStart)\n"
    }
    // Without /proc, the gauge is left out rather than guessed.
    if let statm = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) {
        let pages = statm.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        text += "# TYPE process_resident_memory_bytes gauge\n"
        text += "process_resident_memory_bytes \(pages * Int(getpagesize()))\n"
    }
    if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
        text += "# TYPE process_open_fds gauge\nprocess_open_fds \(open.count)\n"
    }
    #endif
    return text
}
