import EventTypes
import Messaging
import Testing
import TestSupport

@testable import Fulfillment

@Suite(.timeLimit(.minutes(10)))
struct UnknownMemberTests {
    @Test func theyReachTheClientInEveryKindOfEvent() async throws {
        try await StreamServer.run { server in
            try await server.store.arrive(events: [Self.newer(1)])
            try await server.handOn()
            var stream = try await server.connect()
            let kept = try #require(try await stream.next())
            try await server.store.arrive(events: [Self.newer(2)])
            try await server.store.finish(2)
            try await server.handOn()
            let added = try #require(try await stream.next())
            let removed = try #require(try await stream.next())
            #expect(
                [kept.name, added.name, removed.name] == ["transaction", "transaction", "removed"]
            )
            for event in [kept, added, removed] {
                #expect(event.data.contains(NewerJSON.member))
            }
        }
    }

    /// A purchase as a newer program tells of it.
    private static func newer(_ number: Int64) throws -> ReceivedEvent {
        let event = try ReceivedEvent.arrival(.sample(number))
        return ReceivedEvent(
            id: event.id,
            type: event.type,
            topic: event.topic,
            key: event.key,
            subject: event.subject,
            time: event.time,
            data: NewerJSON.adding(to: event.data)
        )
    }
}
