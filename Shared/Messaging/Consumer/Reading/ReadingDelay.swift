/// The wait of a consumer, so that events have a certain age when they are applied.
///
/// Pure.
enum ReadingDelay {
    /// The time to wait before a batch is applied.
    ///
    /// - Parameters:
    ///   - age: The age of the newest event of the batch. It is negative if the producer's clock is
    ///     ahead of this one.
    ///   - delay: The age that the event is to have.
    /// - Returns: The time until the event is old enough, and never more than the delay.
    static func wait(atAge age: Duration, untilAge delay: Duration) -> Duration {
        max(min(delay - age, delay), .zero)
    }
}
