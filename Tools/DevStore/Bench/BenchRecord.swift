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
        row = report.row(named: name ?? date)
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
        // Without /proc the record has no model.
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
    /// The row of the table of records.
    func row(named name: String) -> String {
        func text(_ number: Double, _ digits: Int = 2) -> String {
            String(format: "%.\(digits)f", number)
        }
        let (rows, bytes) = comparison.totals
        let cells = [
            "[\(name)](\(name).json)", "\(closed.purchases)", "\(Int(closed.rate))",
            text(httpToYardstick, 3), text(drainedToYardstick, 3), text(closed.cost, 0),
            text(rows.run, 1), text(keptBytes / 1000, 1), text(bytes.run / 1000, 1),
            text(deliveredRatios.p50), text(deliveredRatios.p99), text(ratioToBroker),
            BenchGrowth.ratio(growth).map { text($0) } ?? "–",
            idle.map { text($0.percent) } ?? "–", "\(memoryMax >> 20)",
        ]
        return "| \(cells.joined(separator: " | ")) |\n"
    }
}
