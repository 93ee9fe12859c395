import EventTypes
import Messaging
import Seals

/// An event of a service's log.
struct StoryEvent: Sendable {
    let id: EventID
    let type: EventType
    let topic: String
    let key: String
    let place: LogPlace
    let time: StoreTime
    let traceID: String?
    /// Whether the broker has the event.
    let isPublished: Bool
    /// The change of a subscription that it reports.
    var change: SubscriptionChanged?
    /// The act that led to it.
    var act: Act?
    /// The buyer's request for a refund that it reports.
    var request: RequestedRefund?

    /// The event's chain and place, from which follows which consumers have applied it.
    var entry: AppliedEvents.Entry {
        AppliedEvents.Entry(id: id, topic: topic, key: key, place: place)
    }
}
