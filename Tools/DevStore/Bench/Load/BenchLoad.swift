import EventTypes
import Foundation
import NIOPosix
import StoreHarness

/// The result of one load: its purchases, its duration and its cost.
struct BenchResult: Sendable {
    let purchases: Int
    let seconds: Double
    let times: [BenchDriver.Times]
    var accepted: [AcceptedPayment]
    let retries: Int
    let costs: [ProcessCost]

    /// The number of finished purchases per second.
    var rate: Double { Double(purchases) / seconds }

    /// The processor time per purchase in microseconds, without the load itself.
    var cost: Double {
        costs.filter(\.isOfStore).map { $0.microseconds(perEachOf: purchases) }.reduce(0, +)
    }

    /// The latencies from the request to one of a purchase's times.
    func latencies(to moment: (BenchDriver.Times) -> UInt64) -> Latencies {
        Latencies(
            milliseconds: times.map { Self.milliseconds($0.asked, moment($0)) }
        )
    }

    /// The latencies to purchased of the purchases that were asked for in some seconds of the load.
    func latencies(ofSeconds seconds: Range<Double>) -> Latencies {
        let first = times.map(\.asked).min() ?? 0
        let some = times.filter { seconds.contains(Double($0.asked - first) / 1e9) }
        return Latencies(milliseconds: some.map { Self.milliseconds($0.asked, $0.purchased) })
    }

    /// The time that purchases spend in each part of the store, in the order of their way.
    ///
    /// A consumer may have an event before the relay has noted that the broker has it. Then the part after
    /// that took no time. So the way from one service to the next is also divided otherwise: into the wait
    /// for the relay, until it hands the event over to be sent; the way through the broker and the wait for
    /// the consumer, until it begins with the batch; and the consumer's own work. These three are known to a
    /// millisecond, and only of purchases at a fixed rate while nobody has set the store's clock.
    var stages: [(name: String, latencies: Latencies)] {
        [
            ("asked → accepted", stage(from: \.asked, to: \.accepted)),
            ("accepted → charged", stage(from: \.accepted, to: \.charged)),
            ("charged → purchased", stage(from: \.charged, to: \.purchased)),
            ("purchased → published", stage(from: \.purchased, to: \.published)),
            ("purchased → sent", stage(from: \.purchased, to: \.sent)),
            ("sent → at receipts", stage(from: \.sent, to: \.atReceipts)),
            ("at receipts → signed", stage(from: \.atReceipts, to: \.signed)),
            ("published → signed", stage(from: \.published, to: \.signed)),
            ("signed → published", stage(from: \.signed, to: \.receiptPublished)),
            ("signed → sent", stage(from: \.signed, to: \.receiptSent)),
            ("sent → at fulfillment", stage(from: \.receiptSent, to: \.atFulfillment)),
            ("at fulfillment → queued", stage(from: \.atFulfillment, to: \.queued)),
            ("published → queued", stage(from: \.receiptPublished, to: \.queued)),
            ("queued → delivered", stage(from: \.queued, to: \.delivered)),
        ]
    }

    private func stage(
        from begin: KeyPath<BenchDriver.Times, UInt64>,
        to end: KeyPath<BenchDriver.Times, UInt64>
    ) -> Latencies {
        let known = times.filter { $0[keyPath: begin] > 0 && $0[keyPath: end] > 0 }
        return Latencies(
            milliseconds: known.map {
                max(Self.milliseconds($0[keyPath: begin], $0[keyPath: end]), 0)
            }
        )
    }

    private static func milliseconds(_ begin: UInt64, _ end: UInt64) -> Double {
        Double(Int64(bitPattern: end &- begin)) / 1e6
    }

    /// The latencies from the request to each of a purchase's times.
    var latencies: [(name: String, latencies: Latencies)] {
        [
            ("asked → answered", latencies { $0.answered }),
            ("asked → purchased", latencies { $0.purchased }),
            ("asked → delivered", latencies { $0.delivered }),
            ("asked → finished", latencies { $0.finished }),
        ]
    }
}

/// Drives loads against a store whose services are running.
struct BenchLoad: Sendable {
    let terminal: Terminal
    let store: StoreHarness

    /// Warms up services that have just started with a tenth of a load, at most a thousand
    /// purchases, so that their consumers have joined their groups and one-time work is done.
    ///
    /// - Parameter load: The load that follows.
    /// - Returns: The result of the warm-up.
    /// - Throws: ``BenchError`` for an unexpected answer.
    func warmUp(for load: BenchDriver.Load) async throws -> [AcceptedPayment] {
        var load = load
        load.purchases = max(1, min(load.purchases / 10, 1000))
        load.rate = nil
        return try await drive(load).accepted
    }

    /// Drives a load until every purchase is finished.
    ///
    /// - Parameters:
    ///   - load: The load to drive.
    ///   - gate: Called while it runs; what it returns is when the measuring begins, if not at once.
    /// - Returns: The result of the load.
    /// - Throws: ``BenchError`` for an unexpected answer.
    func drive(
        _ load: BenchDriver.Load,
        after gate: (@Sendable (BenchDriver) async throws -> Void)? = nil
    ) async throws -> BenchResult {
        let driver = try BenchDriver(
            load: load,
            store: store,
            eventLoop: MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        )
        let clock = ContinuousClock()
        try await driver.open()
        var before = ProcessCost.usages(of: store)
        var start = clock.now
        let begun = Date()
        async let end: Void = driver.run()
        if let gate {
            try await gate(driver)
            before = ProcessCost.usages(of: store)
            start = clock.now
        }
        let watch = Task { try await terminal.tellProgress(of: driver) }
        defer { watch.cancel() }
        try await end
        let time = clock.now - start
        let costs = ProcessCost.costs(of: store, since: before)
        let books = try await BenchBooks(
            store,
            since: begun,
            // As fast as possible, the waits say nothing.
            readsMessages: load.rate != nil
        )
        let times = try zip(driver.times, driver.transactionIDs).map { times, id in
            guard let times = books.completed(times, of: id) else {
                throw BenchError("Transaction \(id) is in no book as purchased.")
            }
            return times
        }
        return BenchResult(
            purchases: load.purchases,
            seconds: time.seconds,
            times: times,
            accepted: driver.transactionIDs.enumerated().map { purchase, id in
                AcceptedPayment(
                    transactionID: TransactionID(number: Int64(id)),
                    account: AccountID(unchecked: "buyer-\(driver.account(of: purchase))")
                )
            },
            retries: driver.retries,
            costs: costs
        )
    }
}

extension Terminal {
    /// Reports a load's progress every two seconds, until cancelled.
    func tellProgress(of driver: BenchDriver) async throws {
        let clock = ContinuousClock()
        var last = 0
        var lap = clock.now
        while !Task.isCancelled {
            try await Task.sleep(for: .seconds(2))
            let progress = try await driver.progress()
            let seconds = (clock.now - lap).seconds
            lap = clock.now
            line(
                "  \(Terminal.describe(progress.finished)) finished, "
                    + "\(Terminal.describe(Int(Double(progress.finished - last) / seconds)))/s, "
                    + "\(progress.begun - progress.finished) in flight",
                .dim
            )
            last = progress.finished
        }
    }

    /// Shows the result of a load.
    func show(_ result: BenchResult) {
        field("purchases", "\(Terminal.describe(result.purchases)) finished")
        field("time", Terminal.describe(.seconds(result.seconds)))
        field("rate", "\(Terminal.describe(Int(result.rate))) finished purchases/s", .bold)
        field("asked again", "\(result.retries)")
    }

    /// Shows the cost of a load.
    func showCosts(of result: BenchResult) {
        table(
            [["process", "RSS MB", "peak MB", "CPU s", "CPU µs/purchase"]]
                + result.costs.map { cost in
                    [
                        cost.name, "\(cost.usage.residentBytes >> 20)",
                        "\(cost.usage.residentBytesMax >> 20)",
                        String(format: "%.1f", cost.cpuSeconds),
                        String(
                            format: "%.0f",
                            cost.microseconds(perEachOf: result.purchases)
                        ),
                    ]
                } + [
                    [
                        "all but this load and what ended", "", "", "",
                        String(format: "%.0f", result.cost),
                    ]
                ],
            rightAligned: [1, 2, 3, 4]
        )
    }
}
