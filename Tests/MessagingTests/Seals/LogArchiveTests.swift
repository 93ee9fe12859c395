import ClockAndIDs
import EventArchive
import EventTypes
import Foundation
import Postgres
import Testing
import TestSupport

@testable import Messaging
@testable import Seals

/// Months of the event log that are moved from the database to files.
@Suite(.timeLimit(.minutes(10)))
struct LogArchiveTests {
    static let november = LogMonth(microsecondsSinceEpoch: 1_763_000_000_000_000)

    /// A log of 100 events over two months, each in its partition, sealed and confirmed.
    private func withLog(_ body: (SealedDatabase, String) async throws -> Void) async throws {
        let directory = NSTemporaryDirectory() + "/archives-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true
        )
        // A leftover directory does no harm.
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await SealedDatabase.with { log in
            try await log.makePartitions()
            try await log.append(0..<100)
            try await log.seal()
            try await log.confirm()
            try await body(log, directory)
        }
    }

    @Test func aMonthThatHasLeftIsStillPartOfTheLog() async throws {
        try await withLog { log, directory in
            let before = try await log.settled(after: .start)
            let file = try await log.export(Self.november, to: directory)
            #expect(file.manifest.events == 60)
            #expect(try await log.check(file).findings == [])
            try await log.drop(file)
            #expect(try await log.settled(after: .start).count == 40)

            for limit in [1, 7, 59, 60, 61, 1000] {
                let rows = try await log.all(limit: limit, in: directory)
                #expect(rows.map(\.place) == before.map(\.place), "\(limit)")
                #expect(rows.map(\.event.id) == before.map(\.event.id))
                #expect(rows.map(\.event.data) == before.map(\.event.data))
            }
            let report = try await log.check(archivesIn: directory)
            #expect(report.findings == [])
            #expect(report.months.map(\.rows) == [60, 40])
        }
    }

    @Test func withoutItsFileTheRestOfTheLogIsCheckedAndTheMonthNamed() async throws {
        try await withLog { log, directory in
            let heads = try await log.check().months.map(\.head)
            try await log.drop(try await log.export(Self.november, to: directory))
            let report = try await log.check()
            #expect(report.findings == [])
            #expect(report.months.map(\.archived?.rowCount) == [60, nil])
            #expect(report.months.map(\.rows) == [0, 40])
            #expect(report.months.map(\.head) == heads)
            let error = await #expect(throws: ArchiveError.self) {
                _ = try await log.all(limit: 10, in: nil)
            }
            #expect(error?.message.contains("payments-2025-11.jsonl.gz") == true)
            #expect(error?.message.contains("--archives") == true)
            // A row inserted in place of the moved month is still found.
            _ = try await log.tamper(
                """
                INSERT INTO outbox (position, xid, event_id, type, topic, key, subject, time, data)
                SELECT 34, xid, gen_random_uuid(), type, topic, key, '33a',
                    time - interval '1 month', data
                FROM outbox WHERE subject = '77'
                """
            )
            let found = try await log.check().findings
            #expect(found.map(\.kind) == [.insertedRow])
        }
    }

    @Test func aFileThatWasEditedAndGivenAManifestToMatchIsFound() async throws {
        try await withLog { log, directory in
            var rows = try await log.rows(of: Self.november)
            let honest = rows[33]
            let event = honest.row.event
            rows[33] = ExactRow(
                row: OutboxRow(
                    place: honest.row.place,
                    event: OutboxEvent(
                        id: event.id,
                        type: event.type,
                        topicName: event.topic,
                        key: "bob",
                        subject: event.subject,
                        time: event.time,
                        traceparent: event.traceparent,
                        data: event.data
                    )
                ),
                microsecondsSinceEpoch: honest.microsecondsSinceEpoch,
                trace: honest.trace
            )
            let file = try await log.write(rows, of: Self.november, to: directory)
            let report = try await log.check(file)
            #expect(report.findings.map(\.kind) == [.editedRow])
            #expect(report.findings.first?.place == honest.row.place)
        }
    }

    @Test func microsecondsThatSomebodyWroteArePreserved() async throws {
        try await withLog { log, directory in
            _ = try await log.tamper(
                "UPDATE outbox SET time = time + interval '7 microseconds' WHERE subject = '33'"
            )
            let file = try await log.export(Self.november, to: directory)
            let cursor = try file.open()
            var rows: [ExactRow] = []
            while case let next = try cursor.next(), !next.isEmpty { rows += next.map(\.row) }
            #expect(rows.map { $0.microsecondsSinceEpoch % 1000 }.filter { $0 != 0 } == [7])
            #expect(try await log.check(file).findings.map(\.kind) == [.editedRow])
        }
    }

    @Test func anotherFileOfTheSameNameIsRefused() async throws {
        try await withLog { log, directory in
            let file = try await log.export(Self.november, to: directory)
            try await log.drop(file)
            for path in [file.path, EventFileManifest.path(of: file.path)] {
                try FileManager.default.removeItem(atPath: path)
            }
            let december = try await log.rows(of: Self.november.advanced(by: 1))
            _ = try await log.write(
                december,
                of: Self.november,
                to: directory,
                head: LogDigest(of: [1])
            )
            let error = await #expect(throws: ArchiveError.self) {
                _ = try await log.all(limit: 10, in: directory)
            }
            #expect(error?.code == .archiveMissing)
            try FileManager.default.removeItem(atPath: EventFileManifest.path(of: file.path))
            let missing = await #expect(throws: ArchiveError.self) {
                _ = try await log.all(limit: 10, in: directory)
            }
            #expect(missing?.code == .eventFile)
        }
    }

    // MARK: - What the database refuses

    /// Changes after which the database refuses to drop a month, with the reason it gives.
    private static let refusals: [(change: SQL, words: String)] = [
        ("UPDATE relay_place SET confirmed_position = 0", "not confirmed"),
        ("DELETE FROM outbox WHERE subject = '7'", "has 59 rows"),
        ("DELETE FROM log_seals WHERE month = '2025-11' AND number = 6", "not what its seals say"),
        ("UPDATE log_seals SET digest = sha256('x') WHERE number = 6", "not what its seals say"),
    ]

    @Test(arguments: refusals.indices)
    func theDatabaseLooksOnceMoreBeforeItDrops(_ index: Int) async throws {
        let (change, words) = Self.refusals[index]
        try await withLog { log, directory in
            let file = try await log.export(Self.november, to: directory)
            _ = try await log.tamper(change)
            let error = await #expect(throws: PostgresError.self) { try await log.drop(file) }
            #expect(error?.description.contains(words) == true, "\(String(describing: error))")
            #expect(try await log.rows(of: Self.november).count >= 59)
        }
    }

    @Test func aMonthThatIsNotOverStays() async throws {
        try await withLog { log, directory in
            let present = LogMonth(
                microsecondsSinceEpoch: StoreTime.wallClock().millisecondsSinceEpoch * 1000
            )
            let file = try await log.write(
                try await log.rows(of: Self.november),
                of: present,
                to: directory
            )
            let error = await #expect(throws: PostgresError.self) { try await log.drop(file) }
            #expect(error?.description.contains("is not over") == true)
        }
    }

    @Test func aMonthStaysWhileASnapshotReadsItAndTheDropHoldsNobodyUp() async throws {
        try await withLog { log, directory in
            let file = try await log.export(Self.november, to: directory)
            let reader = PostgresSettings(
                url: log.database.url(role: PostgresCluster.operatorRole),
                applicationName: "reader",
                poolSize: 1
            )
            try await withSession(reader) { session in
                try await session.beginSnapshot()
                try await LogArchiveStore.holdMonths(on: session)
                let error = await #expect(throws: PostgresError.self) { try await log.drop(file) }
                #expect(error?.code == .lockTimeout, "it gives up its turn soon")
                let rows = try await LogArchiveStore.rows(
                    of: Self.november,
                    after: .start,
                    limit: 1000,
                    on: session
                )
                #expect(rows.count == 60)
            }
            try await log.drop(file)
            #expect(try await log.rows(of: Self.november).isEmpty)
        }
    }

    @Test func aMonthThatLeavesBetweenTwoPagesIsNamed() async throws {
        try await withLog { log, directory in
            let file = try await log.export(Self.november, to: directory)
            let before = try await log.client.withConnection { connection in
                let dropped = try LogArchiveStore.dropped(on: connection)
                try LogArchiveStore.requireNoOthers(than: dropped, on: connection)
                return dropped
            }
            try await log.drop(file)
            let error = await #expect(throws: ArchiveError.self) {
                try await log.client.withConnection { connection in
                    try LogArchiveStore.requireNoOthers(than: before, on: connection)
                }
            }
            #expect(error?.message.contains("2025-11") == true)
        }
    }

    @Test func onlyTheArchivistMayDropAndNothingElseMayItDo() async throws {
        try await withLog { log, directory in
            let file = try await log.export(Self.november, to: directory)
            for role in ["counterfoil_payments", PostgresCluster.operatorRole] {
                let error = await #expect(throws: PostgresError.self) {
                    try await log.drop(file, as: role)
                }
                #expect(error?.code == .insufficientPrivilege)
            }
            try await log.database.withClient(role: PostgresCluster.archivistRole) { client in
                for statement: SQL in [
                    "DELETE FROM outbox", "DROP TABLE outbox_2025_11", "DELETE FROM log_seals",
                    "INSERT INTO log_archives SELECT * FROM log_archives",
                    "UPDATE relay_place SET position = 0", "SELECT 1 FROM consumer_places",
                ] {
                    let error = await #expect(throws: PostgresError.self) {
                        try await client.withConnection { try $0.execute(statement) }
                    }
                    #expect(error?.code == .insufficientPrivilege)
                }
            }
        }
    }
}

extension SealedDatabase {
    /// Makes the partitions for the months of the tests' events.
    func makePartitions() async throws {
        for (name, from, to) in [
            ("outbox_2025_11", "2025-11-01", "2025-12-01"),
            ("outbox_2025_12", "2025-12-01", "2026-01-01"),
        ] {
            _ = try await tamper(
                """
                CREATE TABLE \(unsafe: name) PARTITION OF outbox
                FOR VALUES FROM ('\(unsafe: from) 00:00+00') TO ('\(unsafe: to) 00:00+00')
                """
            )
        }
    }

    /// Marks everything published as confirmed by every consumer.
    func confirm() async throws {
        _ = try await tamper(
            "UPDATE relay_place SET confirmed_xid = xid, confirmed_position = position"
        )
    }

    func rows(of month: LogMonth) async throws -> [ExactRow] {
        try await client.withConnection { connection in
            try LogArchiveStore.rows(of: month, after: .start, limit: 1000, on: connection)
        }
    }

    func export(_ month: LogMonth, to directory: String) async throws -> EventFileReader {
        try await write(rows(of: month), of: month, to: directory)
    }

    func write(
        _ rows: [ExactRow],
        of month: LogMonth,
        to directory: String,
        head: LogDigest? = nil
    ) async throws -> EventFileReader {
        let sealed = try await client.withConnection { connection in
            try SealCheck.head(of: LogArchiveTests.november, on: connection).digest
        }
        let path = directory + "/" + ArchivedMonth.fileName(month, of: "payments")
        let writer = try EventFileWriter(path)
        try writer.write(rows, of: "payments")
        _ = try writer.finish(
            ArchivedMonth(
                month,
                of: "payments",
                first: try #require(rows.first).row.place,
                last: try #require(rows.last).row.place,
                head: try #require(head ?? sealed)
            )
        )
        return try EventFileReader(path)
    }

    func drop(
        _ file: EventFileReader,
        as role: String = PostgresCluster.archivistRole
    ) async throws {
        try await database.withClient(role: role) { client in
            try await client.withConnection { connection in
                try LogArchiveStore.drop(
                    file,
                    named: URL(fileURLWithPath: file.path).lastPathComponent,
                    on: connection
                )
            }
        }
    }

    /// Checks a file against the seals.
    func check(_ file: EventFileReader) async throws -> SealReport {
        try await client.withConnection { try SealCheck.check(file, on: $0) }
    }

    /// Checks the log, including the months in files.
    func check(archivesIn directory: String) async throws -> SealReport {
        try await client.withConnection { connection in
            let archives = try ArchivedRows.find(in: directory, of: "payments", on: connection)
            return try SealCheck(logs: [.outbox(archives: archives)]).run(on: connection)
        }
    }

    /// The whole log, in pages.
    func all(limit: Int, in directory: String?) async throws -> [OutboxRow] {
        try await client.withConnection { connection in
            let archives = try ArchivedRows.find(in: directory, of: "payments", on: connection)
            var rows: [OutboxRow] = []
            while case let page = try EventLog.rows(
                after: rows.last?.place ?? .start,
                limit: limit,
                archives: archives,
                on: connection
            ), !page.isEmpty {
                rows += page
            }
            return rows
        }
    }
}
