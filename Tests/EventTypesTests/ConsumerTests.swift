import EventTypes
import Testing

/// Who acts on which event.
@Suite struct ConsumerTests {
    /// The events that no consumer of a service acts on, and who reads them.
    private static let others: [EventType: String] = [
        .transactionApproved: "the rebuild of payments",
        .strayCharged: "the rebuild of payments",
        .strayChargeReturned: "the rebuild of payments",
        .deliveryConfirmed: "the rebuild of fulfillment",
        .queueChanged: "each instance of fulfillment, for its streams",
        .queueAccountChanged: "each instance of fulfillment, for its streams",
        .queueSubscriptionChanged: "each instance of fulfillment, for its streams",
        .subscriptionGroupChanged: "the rebuild of catalog",
        .familyChanged: "the rebuild of payments",
        .clockChanged: "every process, which follows the store's clock",
    ]

    /// A consumer skips what is not listed, so an event that was forgotten would have no effect.
    @Test func eachEventIsActedOnOrItIsSaidWhoElseReadsIt() {
        let actedOn = ServiceName.allCases.reduce(into: Set<EventType>()) { types, service in
            types.formUnion(Topics.eventTypes(actedOnBy: service))
        }
        for type in EventType.all {
            #expect(
                actedOn.contains(type) != (Self.others[type] != nil),
                "Say in Topics+Consumers who acts on \(type), or here who else reads it."
            )
        }
        #expect(actedOn.union(Self.others.keys) == EventType.all)
    }

    @Test func whoActsOnEventsReadsATopic() {
        for service in ServiceName.allCases {
            let reads = Topics.all.contains { $0.consumers.contains(service) }
            #expect(reads == !Topics.eventTypes(actedOnBy: service).isEmpty, "\(service)")
        }
    }
}
