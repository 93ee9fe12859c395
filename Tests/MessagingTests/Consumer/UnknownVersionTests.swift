import ClockAndIDs
import EventTypes
import Testing

@testable import Messaging

/// An unknown version of a handled event is refused; events of other names are ignored.
@Suite struct UnknownVersionTests {
    private static let known: Set<EventType> = [.transactionPurchased, .strayChargeReturned]

    private func event(_ type: String) -> ReceivedEvent {
        let time = StoreTime(millisecondsSinceEpoch: 1_800_000_000_000)
        return ReceivedEvent(
            id: EventID(time: time),
            type: EventType(rawValue: type),
            topic: "payments.transactions",
            key: "ada",
            subject: "7",
            time: time,
            data: [],
            partition: 3,
            offset: 17
        )
    }

    @Test func itIsNamedWithItsPlace() {
        let events = [event("transaction.purchased.v1"), event("transaction.purchased.v9")]
        let error = #expect(throws: UnknownVersion.self) {
            try UnknownVersion.refuse(in: events, known: Self.known)
        }
        #expect(
            error?.description
                == "transaction.purchased.v9 at payments.transactions/3/17 has an unknown version"
        )
    }

    @Test(arguments: [
        "transaction.purchased.v1", "transaction.refunded.v9", "transaction.stray-charged.v1",
        "malformed", "transaction.v1", "",
    ])
    func whatIsKnownOrOfAnotherNameIsNot(type: String) {
        #expect(throws: Never.self) {
            try UnknownVersion.refuse(in: [event(type)], known: Self.known)
        }
    }

    @Test func aNameIsATypeWithoutItsVersion() {
        #expect(EventType.transactionPurchased.name == "transaction.purchased")
        #expect(EventType(rawValue: "malformed").name == "malformed")
        #expect(EventType(rawValue: "a.b").name == "a.b")
    }
}
