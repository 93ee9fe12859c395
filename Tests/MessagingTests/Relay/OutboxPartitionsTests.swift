import EventArchive
import EventTypes
import Logging
import Postgres
import Seals
import TestSupport
import Testing

@testable import Messaging

/// The partitions of the outbox, which are those of the times that its rows carry.
@Suite(.timeLimit(.minutes(10)))
struct OutboxPartitionsTests {
    private static let now = StoreTime(millisecondsSinceEpoch: 1_795_237_175_000)
    private static let year = Duration.seconds(365 * 86_400)

    private func append(
        _ subjects: ClosedRange<Int>,
        at time: StoreTime,
        _ log: SealedDatabase
    ) async throws {
        try await log.append(subjects, from: time.millisecondsSinceEpoch)
    }

    /// The partition of each event, in the order of the log.
    private func places(_ log: SealedDatabase) async throws -> [String] {
        try await log.client.withConnection { connection in
            try connection.query(
                "SELECT subject || ' ' || tableoid::regclass::text FROM outbox ORDER BY xid, position"
            ).map { try $0.decode(String.self) }
        }
    }

    private func ensure(at time: StoreTime, _ log: SealedDatabase) async throws {
        try await log.client.withTransaction { connection in
            try RelayStore.ensurePartitions(at: time, on: connection)
        }
    }

    @Test func eventsAYearAheadAndAYearBackGetPartitionsOfTheirOwnMonths() async throws {
        try await SealedDatabase.with { log in
            try await append(1...2, at: Self.now.advanced(by: Self.year), log)
            try await append(3...3, at: Self.now.advanced(by: .zero - Self.year), log)
            try await append(4...4, at: Self.now, log)
            let before = try await log.settled(after: .start)
            #expect(before.map(\.event.subject) == ["1", "2", "3", "4"])

            try await ensure(at: Self.now, log)
            #expect(
                try await places(log) == [
                    "1 outbox_2027_11", "2 outbox_2027_11", "3 outbox_2025_11", "4 outbox_2026_11",
                ]
            )
            // Nothing else changes: the same events in the same places.
            let after = try await log.settled(after: .start)
            #expect(after.map(\.place) == before.map(\.place))
            #expect(after.map(\.event.id) == before.map(\.event.id))

            // What comes later goes there at once.
            try await append(5...5, at: Self.now.advanced(by: Self.year), log)
            #expect(try await places(log).last == "5 outbox_2027_11")
        }
    }

    @Test func theMonthsFollowTheStoresClockNotTheMachines() async throws {
        try await SealedDatabase.with { log in
            let ahead = Self.now.advanced(by: Self.year * 5)
            try await ensure(at: ahead, log)
            try await append(1...1, at: ahead, log)
            #expect(try await places(log) == ["1 outbox_2031_11"])
        }
    }

    @Test func aServiceMakesThemItselfAndASecondTimeNothing() async throws {
        try await SealedDatabase.with { log in
            try await append(1...1, at: Self.now.advanced(by: Self.year * 2), log)
            try await log.database.withClient(role: "counterfoil_payments", poolSize: 1) { client in
                let partitions = OutboxPartitions(
                    client: client,
                    clock: ProcessClock(client: client),
                    logger: Logger(label: "test")
                )
                _ = try await partitions.make()
                #expect(try await places(log) == ["1 outbox_2028_11"])
                _ = try await partitions.make()
                #expect(try await places(log) == ["1 outbox_2028_11"])
            }
        }
    }

    @Test func somebodyWhoReadsTheLogForLongDelaysThemAndNotTheRelay() async throws {
        try await SealedDatabase.with { log in
            try await append(1...1, at: Self.now.advanced(by: Self.year), log)
            let reader = PostgresSettings(
                url: log.database.url(role: PostgresCluster.operatorRole),
                applicationName: "reader",
                poolSize: 1
            )
            try await withSession(reader) { session in
                try await session.beginSnapshot()
                try await LogArchiveStore.holdMonths(on: session)
                let error = await #expect(throws: PostgresError.self) {
                    try await ensure(at: Self.now, log)
                }
                #expect(error?.code == .lockTimeout)
                // Nobody waits behind it any more.
                #expect(try await log.settled(after: .start).map(\.event.subject) == ["1"])
            }
            try await ensure(at: Self.now, log)
            #expect(try await places(log) == ["1 outbox_2027_11"])
        }
    }

    @Test func whoAppendsWhileAPartitionIsMadeAppendsToIt() async throws {
        try await SealedDatabase.with { log in
            let ahead = Self.now.advanced(by: Self.year)
            let maker = PostgresSettings(
                url: log.database.url(role: "counterfoil_payments"),
                applicationName: "maker",
                poolSize: 1
            )
            try await withSession(maker) { session in
                try await session.execute("BEGIN")
                try await RelayStore.ensurePartitions(at: ahead, on: session)
                async let appending: Void = append(1...1, at: ahead, log)
                try await eventually("the append to wait") {
                    let waiting = try await log.client.withConnection { connection in
                        try connection.query(
                            """
                            SELECT count(*) FROM pg_stat_activity
                            WHERE datname = current_database() AND wait_event_type = 'Lock'
                            """
                        ).first?.decode(Int64.self)
                    }
                    return waiting == 1 ? true : nil
                }
                try await session.execute("COMMIT")
                try await appending
            }
            #expect(try await places(log) == ["1 outbox_2027_11"])
        }
    }

    @Test func aMonthThatHasLeftForAFileDoesNotComeBack() async throws {
        try await SealedDatabase.with { log in
            _ = try await log.tamper(
                """
                INSERT INTO log_archives VALUES ('outbox', '2025-11', 1, '1', 1, '1', 1, 1,
                    sha256(''), 'a file', sha256(''))
                """
            )
            try await append(1...1, at: Self.now.advanced(by: .zero - Self.year), log)
            try await ensure(at: Self.now.advanced(by: .zero - Self.year), log)
            #expect(try await places(log) == ["1 outbox_default"])
        }
    }
}
