import Logging
import Metrics
import Synchronization

/// The work that could not be carried out because of a broken row, which is left alone for a while.
///
/// Otherwise the oldest of it would be at the head of every batch, and hold up all others. Each failure
/// doubles the pause. Every process has its own pauses, so one that starts tries everything at once.
///
/// A batch that succeeds does not say which of its work had failed before. So the gauge counts work only
/// until shortly after its pause: by then it has been tried again, and if it failed, its next pause runs.
///
/// Safe to use from any task.
final class FailedWork<ID: Hashable & Sendable>: Sendable {
    private struct Entry {
        var pause: Duration
        var end: ContinuousClock.Instant
    }

    private let pause: Duration
    private let pauseMax: Duration
    /// The time after a pause for which work is remembered that has not failed again.
    private let memory: Duration
    /// The time after a pause in which work is tried again, and the gauge still counts it.
    private let grace = Duration.seconds(60)
    private let entries = Mutex<[ID: Entry]>([:])
    private let count: Gauge

    /// Begins without failures.
    ///
    /// - Parameters:
    ///   - kind: The kind of the work, by which the gauge names it.
    ///   - pause: The time for which work is left alone after its first failure.
    ///   - pauseMax: The longest time for which it is left alone.
    ///   - memory: The time after a pause for which work is remembered that has not failed again.
    ///   - metrics: Makes the gauge.
    init(
        of kind: String,
        pause: Duration = .seconds(60),
        pauseMax: Duration = .seconds(3600),
        memory: Duration = .seconds(600),
        metrics: any MetricsFactory = MetricsSystem.factory
    ) {
        self.pause = pause
        self.pauseMax = pauseMax
        self.memory = memory
        count = Gauge(label: "work_set_aside", dimensions: [("kind", kind)], factory: metrics)
        count.record(0)
    }

    /// Leaves work alone for a while that could not be carried out, and says so in the log.
    ///
    /// The first failure is an error. Those that follow are for debugging.
    ///
    /// - Parameters:
    ///   - id: The work.
    ///   - error: The reason.
    ///   - details: What the log says of the work.
    ///   - logger: The log.
    ///   - now: The present.
    func leaveAlone(
        _ id: ID,
        because error: any Error,
        _ details: Logger.Metadata,
        in logger: Logger,
        at now: ContinuousClock.Instant = .now
    ) {
        let isFirst = entries.withLock { entries in
            let last = entries[id]
            let next = last.map { min($0.pause * 2, pauseMax) } ?? pause
            entries[id] = Entry(pause: next, end: now + next)
            show(entries, at: now)
            return last == nil
        }
        logger.log(
            level: isFirst ? .error : .debug,
            RowError.remedy,
            metadata: details.merging(["error": "\(error)"]) { own, _ in own }
        )
    }

    /// Forgets work that was carried out.
    func forget(_ id: ID, at now: ContinuousClock.Instant = .now) {
        entries.withLock { entries in
            if entries.removeValue(forKey: id) != nil { show(entries, at: now) }
        }
    }

    /// The work that is left alone.
    func current(at now: ContinuousClock.Instant = .now) -> Set<ID> {
        entries.withLock { entries in
            guard !entries.isEmpty else { return [] }
            entries = entries.filter { $0.value.end + memory > now }
            show(entries, at: now)
            return Set(entries.lazy.filter { $0.value.end > now }.map(\.key))
        }
    }

    private func show(_ entries: [ID: Entry], at now: ContinuousClock.Instant) {
        count.record(entries.values.filter { $0.end + grace > now }.count)
    }
}
