import EventTypes
import Seals
import Testing

@testable import Messaging

@Suite struct AppliedPlacesTests {
    private static let topic = Topics.paymentsTransactions.name

    private func event(
        _ place: Int64,
        after previous: Int64? = nil,
        topic: String = topic,
        key: String = "ada"
    ) -> ReceivedEvent {
        ReceivedEvent(
            id: EventID(bytes: .init(repeating: UInt8(place))),
            type: .transactionPurchased,
            topic: topic,
            key: key,
            subject: "\(place)",
            time: StoreTime(millisecondsSinceEpoch: 0),
            traceparent: nil,
            data: [],
            partition: 0,
            offset: place,
            epoch: 1,
            place: logPlace(place),
            previous: previous.map(logPlace)
        )
    }

    private func logPlace(_ place: Int64) -> LogPlace {
        place == 0 ? .start : LogPlace(xid: 700, position: place)
    }

    private func verdicts(
        _ events: [ReceivedEvent],
        from places: [EventChain: LogPlace] = [:]
    ) -> [AppliedPlaces.Verdict] {
        var places = AppliedPlaces(places)
        return events.map { places.admit($0, of: $0.chain) }
    }

    @Test func eachEventIsDueOnce() {
        let events = [
            event(1, after: 0), event(1, after: 0), event(2, after: 1), event(1, after: 0),
        ]
        #expect(verdicts(events) == [.due, .done, .due, .done])
    }

    @Test func anOlderEventAfterANewerOneIsDone() {
        let place = [EventChain(topic: Self.topic, key: "ada"): logPlace(5)]
        #expect(verdicts([event(4, after: 3), event(5, after: 4)], from: place) == [.done, .done])
    }

    @Test func anEventBeforeItsPredecessorIsEarlyAndMovesNothing() {
        let events = [
            event(3, after: 2), event(1, after: 0), event(2, after: 1), event(3, after: 2),
        ]
        #expect(verdicts(events) == [.early, .due, .due, .due])
    }

    @Test func chainsDoNotWaitForEachOther() throws {
        let other = try #require(
            (0..<100).map { "account-\($0)" }.first {
                EventChain(topic: Self.topic, key: $0) != EventChain(topic: Self.topic, key: "ada")
            }
        )
        let events = [event(3, after: 2), event(2, after: 0, key: other)]
        #expect(verdicts(events) == [.early, .due])
    }

    /// A producer that was restored continues its chains before what consumers have already seen.
    @Test func anEventAfterALostOneIsDue() {
        let place = [EventChain(topic: Self.topic, key: "ada"): logPlace(5)]
        #expect(verdicts([event(6, after: 3)], from: place) == [.due])
    }

    /// Compaction removes the predecessors, and the newest event of a key says everything.
    @Test func inACompactedTopicEachKeyIsAChainWithoutLinks() {
        let topic = Topics.catalogProducts.name
        let events = [
            event(7, topic: topic, key: "sword"), event(3, topic: topic, key: "shield"),
            event(6, topic: topic, key: "sword"),
        ]
        #expect(verdicts(events) == [.due, .due, .done])
    }

    @Test func slotsOfKeysNeverChange() {
        let slots = ["ada", "bob", "mallory", ""].map(EventChain.slot)
        #expect(slots == [2, 13, 1, 1])
        #expect(Set((0..<1000).map { EventChain.slot(of: "account-\($0)") }).count == 16)
    }
}
