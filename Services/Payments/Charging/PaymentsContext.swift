import EventTypes
import Logging
import Messaging
import Postgres
import StoreTracing

/// What everything shares that accepts, charges or settles payments.
struct PaymentsContext: Sendable {
    let client: PostgresClient
    let policy: AttemptPolicy
    let owner: LeaseOwner
    let environment: StoreEnvironment
    var spans: SpanRecorder = .off
    let logger: Logger
    /// The time, by the clock that all instances go by.
    let now: @Sendable () -> Timestamp

    /// Records the spans of what was committed.
    func record(_ steps: [(type: EventType, step: SpanStep)], from start: UInt64) {
        guard spans.isOn else { return }
        let end = Span.clock()
        spans.record(
            steps.compactMap { $1.span($0.rawValue, from: start, to: end) }
        )
    }
}
