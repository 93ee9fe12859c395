import Metrics

/// Charges and ends subscriptions that are due, batch by batch, at a pace that leaves room for buyers.
struct PacedRenewals: Sendable {
    private let handler: RenewalHandler
    private let load: RenewalLoad
    private let carriedOut = Counter(label: "subscription_actions")

    /// Makes renewals.
    ///
    /// - Parameters:
    ///   - handler: Carries out a batch.
    ///   - load: The charges that are under way, and whether somebody buys beside them.
    init(handler: RenewalHandler, load: RenewalLoad) {
        self.handler = handler
        self.load = load
    }

    /// Carries out all actions that are due.
    func carryOutAll() async throws {
        var count = 0
        while try await carryOutBatch(after: &count) {}
    }

    /// Carries out a batch, and waits until the next one may begin.
    ///
    /// - Parameter done: The number of actions that were carried out before; those of the batch are added.
    /// - Returns: Whether others may be due.
    /// - Throws: `PostgresError`, `CancellationError`, or an error of what is written.
    private func carryOutBatch(after done: inout Int) async throws -> Bool {
        let start = ContinuousClock.now
        let limit = load.pace().batchSize(after: done)
        let count = try await handler.carryOut(limit: limit)
        guard count > 0 else { return false }
        carriedOut.increment(by: count)
        done += count
        let isLast = count < limit
        if isLast { load.tellIfEmpty() }
        // Buyers may have come or gone since the batch was begun.
        try await load.wait(untilBelow: load.pace().openMax)
        let rest = load.pace().rest(after: .now - start)
        if rest > .zero { try await Task.sleep(for: rest) }
        return !isLast
    }
}
