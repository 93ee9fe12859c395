import EventTypes
import Foundation
import NIOPosix
import TestSupport

/// One benchmark: load, audit, table.
struct BenchRun: Sendable {
    let terminal: Terminal
    let store: StoreHarness
    let load: BenchDriver.Load

    /// Runs it.
    func run() async throws -> AuditReport {
        let driver = try BenchDriver(
            load: load,
            store: store,
            eventLoop: MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        )
        let clock = ContinuousClock()
        var lap = clock.now
        try await driver.open()
        terminal.done(
            "\(load.accounts) streams and \(2 * load.connections) connections",
            clock.now - lap
        )

        terminal.heading("Load")
        let before = usages()
        lap = clock.now
        let watch = Task { try await tellProgress(of: driver) }
        defer { watch.cancel() }
        try await driver.run()
        let time = clock.now - lap
        let after = usages()
        watch.cancel()

        terminal.heading("Audit")
        let report = try await audit(driver)
        terminal.show(report)
        show(driver, time, before, after, report)
        return report
    }

    private func tellProgress(of driver: BenchDriver) async throws {
        let clock = ContinuousClock()
        var last = 0
        var lap = clock.now
        while !Task.isCancelled {
            try await Task.sleep(for: .seconds(2))
            let progress = try await driver.progress()
            let seconds = (clock.now - lap).seconds
            lap = clock.now
            terminal.line(
                "  \(Terminal.describe(progress.finished)) finished, "
                    + "\(Terminal.describe(Int(Double(progress.finished - last) / seconds)))/s, "
                    + "\(progress.begun - progress.finished) in flight",
                .dim
            )
            last = progress.finished
        }
    }

    private func audit(_ driver: BenchDriver) async throws -> AuditReport {
        let accepted = driver.transactionIDs.enumerated().map { purchase, id in
            AcceptedPayment(
                transactionID: TransactionID(number: Int64(id)),
                account: AccountID(unchecked: "buyer-\(driver.account(of: purchase))")
            )
        }
        // The last finishes are still on their way to receipts and payments.
        let deadline = ContinuousClock.now.advanced(by: .seconds(60))
        var report = try await Auditor(store).audit(accepted: accepted)
        while !report.isClean && ContinuousClock.now < deadline {
            try await Task.sleep(for: .seconds(1))
            report = try await Auditor(store).audit(accepted: accepted)
        }
        return report
    }

    private func usages() -> [(name: String, usage: ProcessUsage)] {
        var usages = store.processes.compactMap { process in
            process.usage.map { (process.name, $0) }
        }
        if let id = store.broker.processID, let usage = ProcessUsage(of: id) {
            usages.append(("broker", usage))
        }
        if let id = store.cluster.processID, let usage = ProcessUsage.ofTree(id) {
            usages.append(("postgresql", usage))
        }
        if let usage = ProcessUsage(of: getpid()) { usages.append(("this load", usage)) }
        return usages
    }

    private func show(
        _ driver: BenchDriver,
        _ time: Duration,
        _ before: [(name: String, usage: ProcessUsage)],
        _ after: [(name: String, usage: ProcessUsage)],
        _ report: AuditReport
    ) {
        let seconds = time.seconds
        let rate = Double(load.purchases) / seconds
        terminal.heading("Result")
        terminal.field("purchases", "\(Terminal.describe(load.purchases)) finished")
        terminal.field("time", Terminal.describe(time))
        terminal.field("rate", "\(Terminal.describe(Int(rate))) finished purchases/s", .bold)
        terminal.field("asked again", "\(driver.retries)")
        terminal.line()
        let latencies = [
            ("asked → answered", times(driver) { $0.answered }),
            ("asked → delivered", times(driver) { $0.delivered }),
            ("asked → finished", times(driver) { $0.finished }),
        ]
        terminal.table(of: latencies)
        terminal.line()
        let costs = after.map { name, usage in
            let earlier = before.first { $0.name == name }?.usage.cpuSeconds ?? 0
            return (name: name, usage: usage, cpu: usage.cpuSeconds - earlier)
        }
        terminal.table(
            [["process", "RSS MB", "peak MB", "CPU s", "CPU µs/purchase"]]
                + costs.map { cost in
                    [
                        cost.name, "\(cost.usage.residentBytes >> 20)",
                        "\(cost.usage.residentBytesMax >> 20)", String(format: "%.1f", cost.cpu),
                        String(format: "%.0f", cost.cpu * 1e6 / Double(load.purchases)),
                    ]
                },
            rightAligned: [1, 2, 3, 4]
        )
        terminal.line()
        terminal.line(json(rate, seconds, latencies, costs, report))
    }

    private func json(
        _ rate: Double,
        _ seconds: Double,
        _ latencies: [(String, Latencies)],
        _ costs: [(name: String, usage: ProcessUsage, cpu: Double)],
        _ report: AuditReport
    ) -> String {
        func rounded(_ number: Double) -> Double { (number * 10).rounded() / 10 }
        let names = ["answered", "delivered", "finished"]
        var latency: [String: [String: Double]] = [:]
        for (name, values) in zip(names, latencies.map(\.1)) {
            latency[name] = ["p50": rounded(values.p50), "p99": rounded(values.p99)]
        }
        var processes: [String: [String: Double]] = [:]
        for cost in costs {
            processes[cost.name] = [
                "rssMB": Double(cost.usage.residentBytes >> 20), "cpuSeconds": rounded(cost.cpu),
            ]
        }
        let result: [String: Any] = [
            "purchases": load.purchases, "accounts": load.accounts, "inFlight": load.inFlight,
            "seconds": rounded(seconds), "purchasesPerSecond": rounded(rate),
            "latencyMilliseconds": latency, "processes": processes, "lost": report.lost,
            "doubled": report.doubled, "isClean": report.isClean,
        ]
        let data = try? JSONSerialization.data(withJSONObject: result, options: .sortedKeys)
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    private func times(
        _ driver: BenchDriver,
        _ moment: (BenchDriver.Times) -> UInt64
    ) -> Latencies {
        let nanoseconds = driver.times.map { Int64(bitPattern: moment($0) &- $0.asked) }
        return Latencies(milliseconds: nanoseconds.map { Double($0) / 1e6 })
    }
}
