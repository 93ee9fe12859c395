/// Spaces out batches, so that each has time to gather.
///
/// The first batch after a quiet time begins at once. Under load, each batch is followed by a rest
/// of several times its own length, in which the next one gathers. Many small batches cost several
/// times the processor time of a few large ones: each needs a database transaction and a request to
/// the broker. On a busy machine batches take longer, so the rests are longer too, and the batches
/// become larger and cheaper per event. The loops slow down together instead of starving each
/// other.
///
/// A batch of a few events means that little arrives. It is followed by a rest of less than its own
/// length, in proportion to its events, because waiting would save little and every purchase passes
/// five such loops.
public struct Pace: Sendable {
    /// The longest rest after a batch, as a multiple of the batch's length.
    private let restPerWork: Int
    /// The longest rest.
    private static let restMax = Duration.milliseconds(80)
    /// The number of events in a batch for each time that the rest is as long as the batch.
    private static let eventsPerRest = 64
    private var begunAt = ContinuousClock.now
    private var waited = Duration.zero

    /// Makes a pace.
    ///
    /// - Parameter restPerWork: The longest rest after a batch, as a multiple of the batch's length.
    public init(restPerWork: Int = 4) {
        self.restPerWork = restPerWork
    }

    /// Notes that a batch begins.
    public mutating func begin() {
        begunAt = .now
        waited = .zero
    }

    /// Excludes time that the batch spent waiting for something else from its length.
    public mutating func leaveOut(_ duration: Duration) {
        waited += duration
    }

    /// Waits until the next batch may begin.
    ///
    /// - Parameter count: The number of events in the batch.
    /// - Throws: `CancellationError`.
    public func rest(afterBatchOf count: Int) async throws {
        let work = ContinuousClock.now - begunAt - waited
        try await Task.sleep(for: length(ofRestAfter: work, events: count))
    }

    /// The length of the rest after a batch of some length and number of events.
    func length(ofRestAfter work: Duration, events: Int) -> Duration {
        guard events >= Self.eventsPerRest else {
            return min(work * events / Self.eventsPerRest, Self.restMax)
        }
        return min(work * min(restPerWork, events / Self.eventsPerRest), Self.restMax)
    }
}
