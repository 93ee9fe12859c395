import EventTypes
import Messaging
import StoreTracing

extension OutboxEvent {
    /// The event of the store's clock after a change.
    init(_ clock: FollowedClock, at time: StoreTime, traceparent: TraceContext?) throws {
        try self.init(
            ClockChanged(step: clock.step, clock: clock.clock),
            type: .clockChanged,
            topic: Topics.storeClock,
            key: "store",
            subject: "store",
            time: time,
            traceparent: traceparent
        )
    }
}
