/// The names of what an advance of the store's clock waits for, each with the time since which it does.
///
/// Pure: the time comes in as an argument.
struct ClockWaits {
    private var since: [String: ContinuousClock.Instant] = [:]
    private var names: [String] = []

    /// Notes what a look has found.
    ///
    /// - Parameters:
    ///   - names: What the advance waits for now.
    ///   - now: The time of the look.
    mutating func note(_ names: [String], at now: ContinuousClock.Instant) {
        self.names = names
        since = Dictionary(names.map { ($0, since[$0] ?? now) }) { first, _ in first }
    }

    /// The names, each with its seconds once it is waited for longer than a moment.
    ///
    /// - Parameter now: The present.
    /// - Returns: The text; `nil` if the advance waits for nothing in particular.
    func text(at now: ContinuousClock.Instant) -> String? {
        guard !names.isEmpty else { return nil }
        return names.map { name in
            let seconds = since[name].map { (now - $0).components.seconds } ?? 0
            return seconds < 1 ? name : "\(name) (for \(seconds) s)"
        }.joined(separator: ", ")
    }
}
