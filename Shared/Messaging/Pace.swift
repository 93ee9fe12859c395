/// Keeps batches from following each other faster than they can gather.
///
/// The first batch after a quiet time begins at once; under load each begins no earlier than an
/// interval after the last, so that it holds what came meanwhile. Many small batches cost several
/// times the processor time of a few large ones (a database transaction, a commit of offsets and a
/// request to the broker each).
public struct Pace: Sendable {
    /// The time that lies between the beginnings of two batches at least.
    public let interval: Duration
    private var begunAt = ContinuousClock.now

    /// Makes a pace.
    public init(interval: Duration = .milliseconds(20)) {
        self.interval = interval
    }

    /// Notes that a batch begins.
    public mutating func begin() {
        begunAt = .now
    }

    /// Waits until the next batch may begin.
    ///
    /// - Throws: `CancellationError`.
    public func rest() async throws {
        let next = begunAt + interval
        if next > .now { try await Task.sleep(until: next) }
    }
}
