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
        while try await carryOutBatch() {}
    }

    /// Carries out a batch, and waits until the next one may begin.
    ///
    /// - Returns: Whether others may be due.
    private func carryOutBatch() async throws -> Bool {
        let pace: RenewalPace = load.hasBuyers() ? .besideBuyers : .alone
        let start = ContinuousClock.now
        let count = try await handler.carryOut(limit: pace.batchSizeMax)
        guard count > 0 else { return false }
        carriedOut.increment(by: count)
        let isLast = count < pace.batchSizeMax
        if isLast { load.tellIfEmpty() }
        try await load.wait(untilBelow: pace.openMax)
        let rest = pace.rest(after: .now - start)
        if rest > .zero { try await Task.sleep(for: rest) }
        return !isLast
    }
}
