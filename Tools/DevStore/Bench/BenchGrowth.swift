import Postgres
import StoreHarness

/// The cost of a purchase when the books hold few purchases, and when they hold many.
///
/// The scripts of the ceiling fill the books while the services are stopped, with a thousand
/// purchases in each database transaction. The filled purchases belong to other accounts and have
/// every row that a purchase has. Their events and seals are copies of samples, so such a store
/// cannot be verified.
struct BenchGrowth: Sendable {
    /// One size of the books, and the measurement at that size.
    struct Step: Sendable {
        /// The number of purchases that the books held before.
        let size: Int
        let result: BenchResult
    }

    let load: BenchLoad
    let driven: BenchDriver.Load

    private var store: StoreHarness { load.store }

    /// Fills the books to each size in turn and measures at each size.
    ///
    /// The services are running before and after.
    func run(_ sizes: [Int]) async throws -> [Step] {
        let terminal = load.terminal
        var warmUp = driven
        warmUp.purchases = min(2000, driven.purchases)
        _ = try await load.drive(warmUp)
        var held = warmUp.purchases
        try await store.settle()
        await store.stopServices()
        // There are many accounts, each with at most a hundred purchases.
        var filling = try await Ceiling.filling(store, accounts: 10_000)
        var steps: [Step] = []
        for size in sizes.sorted() {
            if size > held {
                await store.stopServices()
                let start = ContinuousClock.now
                let missing = size - held
                let filled = try await filling.drive(
                    CeilingTransaction.accepting + CeilingTransaction.draining,
                    purchases: missing,
                    in: .largest
                )
                held += filled.purchases
                terminal.done(
                    "filled up to \(Terminal.describe(held)) purchases",
                    .now - start
                )
            }
            try await store.heal()
            held += try await load.warmUp(for: driven).count
            let result = try await load.drive(driven)
            steps.append(Step(size: held, result: result))
            held += driven.purchases
            terminal.line(
                "  \(Terminal.describe(Int(result.rate)))/s, "
                    + "\(Terminal.describe(Int(result.cost))) µs of processor time a purchase"
            )
            try await store.settle()
        }
        return steps
    }

    /// The ratio of a purchase's cost at the largest size to that at the smallest.
    static func ratio(_ steps: [Step]) -> Double? {
        guard let first = steps.first, let last = steps.last, steps.count > 1 else { return nil }
        return last.result.cost / first.result.cost
    }
}

extension StoreHarness {
    /// Waits until the finishes have reached all books.
    func settle() async throws {
        try await eventually(within: .seconds(120), "all books to know all finishes") {
            let open = try await withDatabase(of: .payments) { connection in
                try connection.query(
                    """
                    SELECT count(*) FILTER (WHERE finished_at IS NULL AND product_type = ANY(
                            ARRAY['nonConsumable', 'autoRenewableSubscription'])),
                        count(*)
                    FROM transactions
                    """
                ).first?.decode(Int64.self, Int64.self)
            }
            let told = try await withDatabase(of: .receipts) { connection in
                try connection.query("SELECT count(*) FROM transaction_finishes").first?
                    .decode(Int64.self)
            }
            return open?.0 == 0 && open?.1 == told ? true : nil
        }
    }

    /// Stops the services, but neither the database nor the broker.
    func stopServices() async {
        await withTaskGroup(of: Void.self) { group in
            for process in processes {
                // `terminate` itself kills a service that does not end in time.
                group.addTask { _ = try? await process.terminate() }
            }
        }
    }
}
