/// Keeps batches from following each other faster than they can gather.
///
/// The first batch after a quiet time begins at once; under load each is followed by a rest of
/// several times its own length, so that the next holds what came meanwhile. Many small batches
/// cost several times the processor time of a few large ones (a database transaction each, and a
/// request to the broker). On a busy machine batches take longer, so rests are longer, so batches are
/// larger and cost less each: the loops slow down together instead of starving each other.
public struct Pace: Sendable {
    /// How many times its own length a batch is followed by rest.
    private let restPerWork: Int
    /// The longest rest.
    private static let restMax = Duration.milliseconds(80)
    private var begunAt = ContinuousClock.now
    private var waited = Duration.zero

    /// Makes a pace.
    ///
    /// - Parameter restPerWork: How many times its own length a batch is followed by rest.
    public init(restPerWork: Int = 4) {
        self.restPerWork = restPerWork
    }

    /// Notes that a batch begins.
    public mutating func begin() {
        begunAt = .now
        waited = .zero
    }

    /// Leaves out of a batch's length what it has waited for somebody else, which is no work.
    public mutating func leaveOut(_ duration: Duration) {
        waited += duration
    }

    /// Waits until the next batch may begin.
    ///
    /// - Throws: `CancellationError`.
    public func rest() async throws {
        let work = ContinuousClock.now - begunAt - waited
        try await Task.sleep(for: min(work * restPerWork, Self.restMax))
    }
}
