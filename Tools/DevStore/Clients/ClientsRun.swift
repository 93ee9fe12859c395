import EventTypes
import Foundation
import NIOCore
import NIOPosix
import PaymentQueue
import Postgres
import StoreAPI
import Synchronization
import StoreHarness

/// The measurements of `devstore clients`.
struct ClientsRun: Sendable {
    let terminal: Terminal
    let store: StoreHarness

    // MARK: - Idle clients

    /// Connects idle clients and measures what they cost.
    ///
    /// - Returns: The megabytes that fulfillment uses with all of them connected.
    func watchIdle(_ count: Int, for time: Duration) async throws -> Double {
        terminal.heading("Idle")
        let before = try await cost(over: time)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        guard let port = store.urls.fulfillment.split(separator: ":").last.flatMap({ Int($0) })
        else { throw HarnessError("There is no port in \(store.urls.fulfillment).") }
        var streams: [BenchStream] = []
        let start = ContinuousClock.now
        for number in 0..<count {
            streams.append(
                try await BenchStream.open(
                    port: port,
                    token: try store.client(account: "idle-\(number)").token,
                    on: loop,
                    onDelivered: { _ in },
                    onClose: {}
                ).get()
            )
        }
        terminal.done("\(Terminal.describe(count)) streams", ContinuousClock.now - start)
        let after = try await cost(over: time)
        terminal.table(
            [
                ["", "fulfillment RSS MB", "its CPU s", "its database transactions/s"],
                ["nobody connected"] + before.cells, ["\(count) connected"] + after.cells,
            ],
            rightAligned: [1, 2, 3]
        )
        let perStream = Double(after.residentBytes - before.residentBytes) / Double(count)
        terminal.line(String(format: "  %.1f KB a stream", perStream / 1024))
        let opened = streams
        loop.execute { for stream in opened { stream.close() } }
        return after.megabytes
    }

    private struct Cost {
        var residentBytes: Int
        var cpuSeconds: Double
        var transactionsPerSecond: Double

        var megabytes: Double { Double(residentBytes) / 1_048_576 }

        var cells: [String] {
            [
                String(format: "%.0f", megabytes), String(format: "%.2f", cpuSeconds),
                String(format: "%.1f", transactionsPerSecond),
            ]
        }
    }

    private func cost(over time: Duration) async throws -> Cost {
        // An idle session reports its statistics within 10 s.
        try await Task.sleep(for: .seconds(12))
        let before = (try usage().cpuSeconds, try await databaseTransactions())
        try await Task.sleep(for: time)
        let usage = try usage()
        let transactions = try await databaseTransactions() - before.1
        return Cost(
            residentBytes: usage.residentBytes,
            cpuSeconds: usage.cpuSeconds - before.0,
            transactionsPerSecond: Double(transactions) / Double(time.components.seconds)
        )
    }

    private func usage() throws -> ProcessUsage {
        guard let usage = store.processes.first(where: { $0.name == "fulfillment" })?.usage else {
            throw HarnessError("fulfillment is not running.")
        }
        return usage
    }

    private func databaseTransactions() async throws -> Int64 {
        try await store.withDatabase(of: .fulfillment) { connection in
            try connection.query(
                """
                SELECT xact_commit + xact_rollback FROM pg_stat_database
                WHERE datname = current_database()
                """
            ).first?.decode(Int64.self) ?? 0
        }
    }

    // MARK: - A launch

    /// Launches a client that has many unfinished transactions.
    func launch(with count: Int) async throws {
        terminal.heading("A launch with \(Terminal.describe(count)) unfinished transactions")
        let client = try store.client(account: "hoarder")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= 64 { try await group.next() }
                group.addTask {
                    _ = try await client.addUntilAnswered(.sample(SampleCatalog.coins)).value
                }
            }
            try await group.waitForAll()
        }
        try await eventually("everything to be delivered") {
            let transactions = try await client.unfinished().value.transactions
            return transactions.count { $0.isDelivered } == count ? true : nil
        }
        let observer = TimingObserver()
        SKPaymentQueue.configure(try configuration(account: "hoarder"))
        let start = ContinuousClock.now
        SKPaymentQueue.default().add(observer)
        try await eventually("all to be told") {
            observer.count == count ? true : nil
        }
        let last = observer.lastAt ?? start
        terminal.done("\(Terminal.describe(count)) told, of \(count)", last - start)
        SKPaymentQueue.default().remove(observer)
    }

    // MARK: - Purchases

    /// Measures the time that a purchase spends in the broker alone.
    ///
    /// - Returns: The times of all hops of a purchase.
    func relay(_ count: Int) async throws -> Latencies {
        terminal.heading("The broker alone")
        terminal.line("  A purchase crosses it \(BrokerRelay.hops.count) times before it is seen:")
        for (index, hop) in BrokerRelay.hops.enumerated() {
            terminal.line("    \(index + 1)  \(hop.topic.name) → \(hop.reader)")
        }
        terminal.line(
            "  \(BrokerRelay.messageBytes) bytes, produced and consumed as the services do, with no work between:",
            .dim
        )
        let relay = try await BrokerRelay.open(on: store)
        var hops: [Duration] = []
        var purchases: [Duration] = []
        for _ in 0..<count {
            let times = try await relay.run()
            hops += times
            purchases.append(times.reduce(.zero, +))
        }
        await relay.close()
        let all = Latencies(purchases)
        terminal.table(of: [
            ("one hop", Latencies(hops)), ("\(BrokerRelay.hops.count) hops, as a purchase", all),
        ])
        return all
    }

    /// Makes purchases, one after the other, and measures how long each takes.
    ///
    /// - Parameters:
    ///   - count: How many purchases.
    ///   - broker: What the broker alone takes for one.
    /// - Returns: The 99th percentile minus the broker's, in milliseconds.
    /// - Throws: ``HarnessError`` if a purchase does not succeed.
    func buy(_ count: Int, broker: Latencies) async throws -> Double {
        terminal.heading("\(Terminal.describe(count)) purchases, one after the other")
        SKPaymentQueue.configure(try configuration(account: "buyer"))
        let id = SampleCatalog.coins.rawValue
        guard let coins = try await SKProduct.products(for: [id]).first else {
            throw HarnessError("\(id) is not sold.")
        }
        // The observer keeps the stream open between the purchases.
        let observer = TimingObserver()
        SKPaymentQueue.default().add(observer)
        var purchased: [Duration] = []
        var finished: [Duration] = []
        for _ in 0..<count {
            let start = ContinuousClock.now
            guard case .success(let transaction) = try await coins.purchase() else {
                throw HarnessError("A purchase did not succeed.")
            }
            purchased.append(.now - start)
            try await transaction.finish()
            finished.append(.now - start)
        }
        SKPaymentQueue.default().remove(observer)
        let told = Latencies(purchased)
        terminal.table(of: [
            ("added → purchased", told), ("added → finished", Latencies(finished)),
        ])
        let beyond = told.p99 - broker.p99
        terminal.line(
            String(
                format: "  beyond the broker alone: p50 %.1f ms, p99 %.1f ms",
                told.p50 - broker.p50,
                beyond
            )
        )
        terminal.line(
            "  (the difference of the percentiles: HTTP, the charge, three services' transactions,\n"
                + "  the signature, and the relays that pass each event from database to broker)",
            .dim
        )
        return beyond
    }

    private func configuration(account: String) throws -> StoreConfiguration {
        let token = try store.client(account: account).token
        return StoreConfiguration(
            addresses: .init(
                catalog: store.urls.catalog,
                payments: store.urls.payments,
                fulfillment: store.urls.fulfillment,
                receipts: store.urls.receipts
            ),
            storefront: "USA",
            language: "en-US",
            paymentMethod: { _ in SandboxPaymentMethod.success.rawValue },
            accountToken: { _ in token }
        )
    }
}

/// Counts the updates it receives, and remembers the time of the last one.
private final class TimingObserver: SKPaymentTransactionObserver, Sendable {
    private let told = Mutex<(count: Int, lastAt: ContinuousClock.Instant?)>((0, nil))

    var count: Int { told.withLock { $0.count } }
    var lastAt: ContinuousClock.Instant? { told.withLock { $0.lastAt } }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        told.withLock { $0 = ($0.count + transactions.count, .now) }
    }
}
