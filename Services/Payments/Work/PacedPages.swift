/// Pages of work on many subscriptions, at a pace that leaves room for buyers and renewals.
///
/// Nobody waits for such work, and each page makes events for the other services. Without rests, purchases
/// and renewals would be delivered behind all the events of a million subscribers.
struct PacedPages: Sendable {
    /// The longest rest, so that a slow database does not stretch it.
    private static let restMax = Duration.seconds(1)

    /// Takes the rest after a page that took some time.
    private let rest: @Sendable (Duration) async throws -> Void

    /// Makes a pace.
    ///
    /// - Parameter isBusy: Returns whether somebody buys, or renewals are charged, at this moment.
    init(isBusy: @escaping @Sendable () -> Bool = { false }) {
        self.init(rest: { work in
            try await Task.sleep(for: Self.rest(after: work, isBusy: isBusy()))
        })
    }

    /// Makes a pace whose rests somebody else takes.
    init(rest: @escaping @Sendable (Duration) async throws -> Void) { self.rest = rest }

    /// The rest after a page that took some time: most of the time belongs to others, and nearly all of it
    /// while they need it.
    static func rest(after work: Duration, isBusy: Bool) -> Duration {
        min(work * (isBusy ? 8 : 2), restMax)
    }

    /// Carries out pages, with a rest after each, until there is none.
    ///
    /// - Parameter page: Carries out the next page, and returns whether there was one.
    /// - Throws: An error of a page, or `CancellationError`.
    func carryOutAll(_ page: () async throws -> Bool) async throws {
        while true {
            let start = ContinuousClock.now
            guard try await page() else { return }
            try await rest(ContinuousClock.now - start)
        }
    }
}
