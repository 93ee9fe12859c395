import ClockAndIDs
import EventTypes
import Logging
import Postgres
import Testing
import TestSupport

@testable import Messaging

/// The numbers for dashboards and alarms are read from the tables, at a limited cost.
@Suite(.timeLimit(.minutes(10)))
struct SpineWatchTests {
    @Test func whatIsNotPublishedIsCountedFromItsOldest() async throws {
        try await SealedDatabase.with { log in
            try await log.append(0..<3)
            let before = try await log.client.withConnection { try SpineStore.waiting(on: $0) }
            #expect(before.unpublished == 3)
            #expect(
                before.oldestUnpublished
                    == StoreTime(millisecondsSinceEpoch: SealedDatabase.endOfNovember)
            )
            // The state after a relay has published everything.
            try await log.client.withConnection { connection in
                _ = try connection.execute(
                    """
                    UPDATE relay_place SET (xid, position) = (
                        SELECT xid, position FROM outbox ORDER BY xid DESC, position DESC LIMIT 1
                    )
                    """
                )
            }
            let after = try await log.client.withConnection { try SpineStore.waiting(on: $0) }
            #expect(after == SpineStore.Waiting())
        }
    }

    @Test func whatIsDeadAndWhatIsParkedIsCountedUntilItIsSettled() async throws {
        try await SealedDatabase.with { log in
            try await log.client.withTransaction { connection in
                for (state, count) in [(DeadLetters.State.dead, 1), (.parked, 2)] {
                    for _ in 0..<count { try Self.record(state, on: connection) }
                }
            }
            let before = try await log.client.withConnection { try SpineStore.waiting(on: $0) }
            #expect(before.dead == 1)
            #expect(before.parked == 2)
            try await log.client.withConnection { connection in
                _ = try connection.execute("UPDATE dead_letters SET state = 'redriven'")
            }
            let after = try await log.client.withConnection { try SpineStore.waiting(on: $0) }
            #expect(after.dead == 0)
            #expect(after.parked == 0)
        }
    }

    @Test func theDeadAreCountedBehindAnyNumberOfParkedOnes() async throws {
        try await SealedDatabase.with { log in
            try await log.client.withConnection { connection in
                _ = try connection.execute(
                    """
                    INSERT INTO dead_letters (
                        consumer, event_id, topic, partition, "offset", key, type, subject, time,
                        data, reason, state
                    )
                    SELECT 'receipts', gen_random_uuid(), 'catalog.products', 0, n, 'a key',
                        'a type', '', now(), '', 'a reason',
                        CASE n WHEN 10002 THEN 'dead' ELSE 'parked' END
                    FROM generate_series(1, 10002) AS n
                    """
                )
            }
            let waiting = try await log.client.withConnection { try SpineStore.waiting(on: $0) }
            #expect(waiting.dead == 1)
            #expect(waiting.parked == SpineStore.countMax)
        }
    }

    /// A store of many accounts has many chains, and its relay remembers each.
    @Test func theBacklogIsMeasuredWithoutReadingTheChains() async throws {
        try await SealedDatabase.with { log in
            try await log.append(0..<3)
            try await log.client.withConnection { connection in
                _ = try connection.execute("ALTER TABLE relay_chains RENAME TO elsewhere")
            }
            let waiting = try await log.client.withConnection { try SpineStore.waiting(on: $0) }
            #expect(waiting.unpublished == 3)
        }
    }

    private static func record(
        _ state: DeadLetters.State,
        on connection: isolated PostgresConnection
    ) throws {
        let time = StoreTime.wallClock()
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
