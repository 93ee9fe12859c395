import Foundation
import Kafka
import Postgres
import StoreHarness

/// The record of a benchmark: its numbers, its date, the machine and the versions.
struct BenchRecord {
    /// The record as one line of JSON.
    let json: String
    private let row: String
    private let name: String?

    /// The folder of the records.
    static let folder = SourceTree.root.appendingPathComponent("deploy/benchmarks")

    /// Collects the machine's description and the programs' versions.
    ///
    /// - Parameters:
    ///   - report: The measurements.
    ///   - store: Of which store.
    ///   - machine: A name for this machine, if the record is to be kept.
    /// - Throws: An error if the server does not answer.
    init(_ report: BenchReport, of store: StoreHarness, machine: String?) async throws {
        let date = Date().formatted(.iso8601.year().month().day())
        var result = report.numbers
        result["date"] = date
        result["machine"] = Self.machine(named: machine)
        let server = try await store.cluster.asSuperuser { connection in
            try connection.query("SHOW server_version").first?.decode(String.self) ?? ""
        }
        // Without git, or outside a clone, the record has no commit.
        let commit = try? await ChildProcess.run(
            "/usr/bin/env",
            ["git", "-C", Self.folder.path, "describe", "--always", "--dirty", "--exclude=*"],
            environment: ProcessInfo.processInfo.environment
        )
        result["versions"] = [
            "postgresql": server, "librdkafka": KafkaLibrary.version,
            "broker": try await BrokerProgram.chosen.version(),
            "commit": commit?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "unknown",
            "build": Self.build,
        ]
        let data = try JSONSerialization.data(withJSONObject: result, options: .sortedKeys)
        json = String(decoding: data, as: UTF8.self)
        name = machine.map { "\(date)-\($0)" }
        func text(_ number: Double) -> String { String(format: "%.2f", number) }
        row =
            "| [\(name ?? date)](\(name ?? date).json) | \(report.closed.purchases) "
            + "| \(Int(report.closed.rate)) | \(text(report.ratioOverHTTP)) "
            + "| \(text(report.ratioToCeiling)) | \(text(report.ratioToBroker)) "
            + "| \(BenchGrowth.ratio(report.growth).map(text) ?? "–") "
            + "| \(report.memoryMax >> 20) |\n"
    }

    /// Writes the record to `deploy/benchmarks`, and a row to the table at the end of its README.
    func keep(_ terminal: Terminal) throws {
        guard let name else { return }
        let file = Self.folder.appendingPathComponent(name + ".json")
        try (json + "\n").write(to: file, atomically: true, encoding: .utf8)
        let readme = Self.folder.appendingPathComponent("README.md")
        let text = try String(contentsOf: readme, encoding: .utf8)
        let others = text.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("| [\(name)](") }.joined(separator: "\n")
        try (others + row).write(to: readme, atomically: true, encoding: .utf8)
        try Self.drawChart()
        terminal.line("  kept in deploy/benchmarks/\(name).json, and drawn in chart.svg")
        terminal.line()
    }

    /// Draws the chart of all kept records.
    static func drawChart() throws {
        try BenchChart(ofRecordsIn: folder).svg
            .write(
                to: folder.appendingPathComponent("chart.svg"),
                atomically: true,
                encoding: .utf8
            )
    }

    #if DEBUG
    private static let build = "debug"
    #else
    private static let build = "release"
    #endif

    private static func machine(named name: String?) -> [String: Any] {
        let processors = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model = processors.split(separator: "\n").first { $0.hasPrefix("model name") }?
            .split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
        return [
            "name": name ?? "", "processor": model ?? "",
            "cores": ProcessInfo.processInfo.activeProcessorCount,
            "memory_mb": Int(ProcessInfo.processInfo.physicalMemory >> 20),
            "system": ProcessInfo.processInfo.operatingSystemVersionString,
        ]
    }
}

extension BenchReport {
    /// All numbers, by their names in the record.
    fileprivate var numbers: [String: Any] {
        let (rows, bytes) = comparison.totals
        var numbers: [String: Any] = [
            "purchases": closed.purchases, "seconds": Self.rounded(closed.seconds),
            "purchases_per_second": Self.rounded(closed.rate),
            "ceiling_purchases_per_second": Self.rounded(ceiling),
            "ratio_over_http": Self.rounded(ratioOverHTTP),
            "backlog": drained.purchases,
            "drained_purchases_per_second": Self.rounded(drained.rate),
            "drain_ceiling_purchases_per_second": Self.rounded(drainCeiling),
            "ratio_to_ceiling": Self.rounded(ratioToCeiling),
            "latency_ms": Self.numbers(of: closed.latencies),
            "open_loop_purchases_per_second": openRate,
            "open_loop_latency_ms": Self.numbers(of: open.latencies),
            "broker_ping_pong_ms": Self.numbers(of: ping.pingPong),
            "commit_ms": Self.numbers(of: ping.commit),
            "p99_ratio_to_broker": Self.rounded(ratioToBroker),
            "cpu_microseconds_per_purchase": Self.rounded(closed.cost),
            "rows_per_purchase": Self.rounded(rows.run),
            "ceiling_rows_per_purchase": Self.rounded(rows.ceiling),
            "wal_bytes_per_purchase": Self.rounded(bytes.run),
            "ceiling_wal_bytes_per_purchase": Self.rounded(bytes.ceiling),
            "batches": Self.numbers(of: sizes.http),
            "drain_batches": Self.numbers(of: sizes.drain),
            "service_memory_mb_max": Double(memoryMax >> 20),
            "growth": growth.map { step in
                [
                    "purchases_held": Double(step.size),
                    "purchases_per_second": Self.rounded(step.result.rate),
                    "cpu_microseconds_per_purchase": Self.rounded(step.result.cost),
                ]
            },
            "lost": audit.lost, "doubled": audit.doubled, "is_clean": audit.isClean,
        ]
        // There is no ratio if fewer than two sizes were measured.
        numbers["growth_ratio"] = BenchGrowth.ratio(growth).map(Self.rounded) ?? NSNull() as Any
        var processes: [String: [String: Double]] = [:]
        for cost in closed.costs {
            processes[cost.name] = [
                "cpu_seconds": Self.rounded(cost.cpuSeconds),
                "rss_mb": Double(cost.usage.residentBytes >> 20),
                "rss_mb_max": Double(cost.usage.residentBytesMax >> 20),
            ]
        }
        numbers["processes"] = processes
        return numbers
    }

    private static func rounded(_ number: Double) -> Double { (number * 1000).rounded() / 1000 }

    private static func numbers(of latencies: Latencies) -> [String: Double] {
        [
            "p50": rounded(latencies.p50), "p99": rounded(latencies.p99),
            "p99.9": rounded(latencies.p999),
        ]
    }

    private static func numbers(
        of latencies: [(name: String, latencies: Latencies)]
    ) -> [String: [String: Double]] {
        var numbers: [String: [String: Double]] = [:]
        for (name, values) in latencies {
            numbers[name.replacing("asked → ", with: "")] = Self.numbers(of: values)
        }
        return numbers
    }

    private static func numbers(of sizes: BatchSizes) -> [String: Double] {
        Dictionary(uniqueKeysWithValues: sizes.rows.map { ($0.name, rounded($0.size)) })
    }
}
