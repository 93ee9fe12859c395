import EventTypes
import Postgres
import StoreHarness

/// Drains a backlog of accepted payments that are waiting for the processor's answer.
///
/// A proxy in front of the sandbox processor's database holds its first statement, so accepted
/// payments wait in `payments`. The measurement lasts from the release until the last payment is
/// finished: charge, settle, receipt, delivery, finish. The clients request the finishes over HTTP
/// when their streams report the delivery. Accepting the payments is not measured.
struct BenchDrain: Sendable {
    let load: BenchLoad
    let purchases: Int
    let accounts: Int
    let connections: Int

    private var store: StoreHarness { load.store }

    /// Prepares the backlog and drains it.
    ///
    /// The services must be stopped before, and are running afterwards.
    ///
    /// - Returns: The result, and the first database transaction of the drain.
    func run() async throws -> (result: BenchResult, mark: Int64) {
        let proxy = try await PostgresProxy.start(inFrontOf: store.cluster.port)
        let payments = store.process(.payments)
        let database = payments.environment["DATABASE_URL", default: ""]
        payments.set([
            "SANDBOX_PROCESSOR_DATABASE_URL": database.replacing(
                ":\(store.cluster.port)/",
                with: ":\(proxy.port)/"
            ),
            // The backlog waits in memory, and its leases last long enough not to be taken for
            // abandoned.
            "PROCESSOR_LEASE_MS": "600000", "PROCESSOR_QUEUE_MAX": "\(max(20_000, purchases * 2))",
        ])
        try await store.heal()
        let hold = proxy.hold(at: .beforeStatement(containing: "sandbox_processor.charges"))
        let mark = Marker()
        let result = try await load.drive(
            BenchDriver.Load(
                purchases: purchases,
                accounts: accounts,
                inFlight: purchases,
                connections: connections,
                rate: nil
            )
        ) { driver in
            try await eventually(within: .seconds(300), "all payments to be accepted") {
                try await driver.progress().answered == purchases ? true : nil
            }
            try await untilAllAreShown(driver)
            guard try await driver.progress().finished == 0 else {
                throw HarnessError("The processor was held, but something was finished.")
            }
            await mark.set(try await BatchSizes.mark(store))
            hold.release()
        }
        // The usual settings are restored for what follows.
        try await payments.terminate()
        payments.set([
            "SANDBOX_PROCESSOR_DATABASE_URL": database, "PROCESSOR_LEASE_MS": "10000",
            "PROCESSOR_QUEUE_MAX": "20000",
        ])
        await proxy.cut()
        return (result, await mark.value)
    }

    /// Waits until the queues show every payment, so that only the drain's work is left.
    private func untilAllAreShown(_ driver: BenchDriver) async throws {
        let first = Int64(driver.transactionIDs.min() ?? 0)
        try await eventually(within: .seconds(120), "the queues to show all payments") {
            try await store.withDatabase(of: .fulfillment) { connection in
                try connection.query(
                    "SELECT count(*) FROM queue_transactions WHERE transaction_id >= \(first)"
                ).first?.decode(Int64.self)
            } == Int64(purchases) ? true : nil
        }
    }
}

/// Holds a number that a closure determines.
private actor Marker {
    private(set) var value: Int64 = 0
    func set(_ value: Int64) { self.value = value }
}
