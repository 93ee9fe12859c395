import EventTypes
import Logging
import Postgres
import TestSupport
import Testing

@testable import Messaging

/// What dashboards and alarms are made of: read from the tables, at a bounded cost.
@Suite(.timeLimit(.minutes(2)))
struct SpineWatchTests {
    @Test func whatIsNotPublishedAndWhatIsDeadIsCounted() async throws {
        try await SealedDatabase.with { log in
            try await log.append(0..<3)
            let before = try await log.client.withConnection { try SpineStore.waiting(on: $0) }
            #expect(before.unpublished == 3)
            #expect(
                before.oldestUnpublished
                    == Timestamp(millisecondsSinceEpoch: SealedDatabase.endOfNovember)
            )
            _ = try await log.settled(after: .start)
            try await log.seal()
            try await log.client.withTransaction { connection in
                for (state, count) in [(DeadLetters.State.dead, 1), (.parked, 2)] {
                    for _ in 0..<count { try Self.record(state, on: connection) }
                }
                // What an operator has settled waits no more.
                try connection.execute(
                    """
                    INSERT INTO dead_letters (consumer, event_id, topic, partition, "offset", key,
                        type, subject, time, data, reason, state)
                    SELECT consumer, gen_random_uuid(), topic, partition, "offset", key, type,
                        subject, time, data, reason, 'redriven' FROM dead_letters LIMIT 1
                    """
                )
            }
            let after = try await log.client.withConnection { try SpineStore.waiting(on: $0) }
            #expect(after.unpublished == 0)
            #expect(after.oldestUnpublished == nil)
            #expect(after.dead == 1)
            #expect(after.parked == 2)
        }
    }

    private static func record(
        _ state: DeadLetters.State,
        on connection: isolated PostgresConnection
    ) throws {
        let time = Timestamp.wallClock()
        let event = ReceivedEvent(
            id: EventID(time: time),
            type: .queueChanged,
            topic: Topics.fulfillmentTransactions.name,
            key: "ada",
            subject: "1",
            time: time,
            data: Array("{}".utf8)
        )
        try DeadLetters.record(
            event,
            state: state,
            reason: "a test",
            consumer: "payments",
            on: connection
        )
    }
}
