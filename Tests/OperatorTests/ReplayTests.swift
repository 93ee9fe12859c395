import ArgumentParser
import ClockAndIDs
import EventArchive
import EventTypes
import Foundation
import Messaging
import Postgres
import Seals
import Testing
import TestSupport

@testable import Operator
@testable import OperatorCore

/// Replays: their selection, their plan, and the checks before they send.
@Suite(.timeLimit(.minutes(10)))
struct ReplayTests {
    private static let now = StoreTime(millisecondsSinceEpoch: 1_795_237_175_000)

    private func row(
        _ position: Int64,
        type: EventType = .queueAccountChanged,
        topic: Topic = Topics.fulfillmentTransactions,
        key: String = "ada",
        subject: String = "7",
        seconds: Int64 = 0,
        data: String = "{}"
    ) -> OutboxRow {
        let time = StoreTime(
            millisecondsSinceEpoch: Self.now.millisecondsSinceEpoch + seconds * 1000
        )
        return OutboxRow(
            place: LogPlace(xid: 10, position: position),
            event: OutboxEvent(
                id: EventID(time: time),
                type: type,
                topic: topic,
                key: key,
                subject: subject,
                time: time,
                data: Array(data.utf8)
            )
        )
    }

    /// An event that the outline does not list is read as a transaction, and would never be sent.
    @Test(arguments: EventType.all.map(\.rawValue).sorted())
    func everyEventIsReadAsWhatItIs(name: String) throws {
        let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/events/v1")
        let file = fixtures.appending(path: name.replacing(".v1", with: ".json"))
        let event = row(
            1,
            type: EventType(rawValue: name),
            data: String(decoding: try Data(contentsOf: file), as: UTF8.self)
        ).event
        #expect(ReplayOutline.problem(of: event) == nil)
    }

    @Test func whatIsSaidMustAllHold() {
        let rows = (1...20).map {
            row($0, key: $0 % 2 == 0 ? "ada" : "bob", subject: "\($0)", seconds: $0)
        }
        func chosen(_ selection: ReplaySelection) -> [Int64] {
            rows.filter(selection.contains).map(\.place.position)
        }
        #expect(chosen(ReplaySelection()).count == 20)
        #expect(chosen(ReplaySelection(accounts: ["ada"])).count == 10)
        #expect(chosen(ReplaySelection(accounts: ["ada"], transactions: ["3", "4"])) == [4])
        #expect(
            chosen(ReplaySelection(since: rows[4].event.time, until: rows[7].event.time)) == [
                5, 6, 7,
            ]
        )
        #expect(chosen(ReplaySelection(from: "10:19")) == [19, 20])
        #expect(chosen(ReplaySelection(from: "10:3", through: "10:4")) == [3, 4])
        #expect(chosen(ReplaySelection(topics: ["payments.transactions"])) == [])
        #expect(chosen(ReplaySelection(types: ["queue.account-changed.v1"])).count == 20)
        #expect(chosen(ReplaySelection(events: [rows[6].event.id.description])) == [7])
    }

    @Test func deadLettersAreNoEventsToReplay() {
        let letter = OutboxRow(
            place: LogPlace(xid: 1, position: 1),
            event: OutboxEvent(
                id: EventID(time: Self.now),
                type: EventType(rawValue: "dead-letter.recorded.v1"),
                topicName: "payments.transactions.dead-letters",
                key: "ada",
                subject: "7",
                time: Self.now,
                traceparent: nil,
                data: []
            )
        )
        #expect(!ReplaySelection().contains(letter))
    }

    @Test func whatSelectsNothingOrIsNotThereIsRefusedInWords() {
        let hour = StoreTime(millisecondsSinceEpoch: Self.now.millisecondsSinceEpoch - 3_600_000)
        let later = StoreTime(millisecondsSinceEpoch: Self.now.millisecondsSinceEpoch + 1)
        let wrong: [(ReplaySelection, String)] = [
            (ReplaySelection(topics: ["payments"]), "no topic payments"),
            (ReplaySelection(types: ["transaction.purchased.v9"]), "no type"),
            (ReplaySelection(transactions: ["seven"]), "not the id of a transaction"),
            (ReplaySelection(events: ["7"]), "not the id of an event"),
            (ReplaySelection(since: later), "in the future"),
            (ReplaySelection(until: later), "in the future"),
            (ReplaySelection(since: hour, until: hour), "there is nothing"),
            (ReplaySelection(from: "10:1"), "one service's log"),
            (ReplaySelection(topics: ["receipts.issued"], from: "ten"), "not a place"),
            (ReplaySelection(topics: ["receipts.issued"], from: "9:9", through: "9:8"), "nothing"),
        ]
        for (selection, words) in wrong {
            let error = #expect(throws: OperatorError.self) { try selection.check(at: Self.now) }
            #expect(error?.code == .usage)
            #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        }
        #expect(throws: Never.self) { try ReplaySelection(since: hour).check(at: Self.now) }
    }

    @Test func whatCannotBeReadInFullIsNamed() {
        var plan = ReplayOutline()
        plan.add(row(1, type: EventType(rawValue: "transaction.purchased.v0")).event)
        plan.add(row(2, type: .transactionPurchased, data: #"{"transaction":{}}"#).event)
        plan.add(row(3, type: .queueChanged, data: "{").event)
        #expect(
            plan.refused == [
                "transaction.purchased.v0 has an unknown version": 1,
                "transaction.purchased.v1 cannot be read as an event of its type": 1,
                "queue.changed.v1 cannot be read as an event of its type": 1,
            ]
        )
    }

    @Test func theProgressSaysHowLongItTakes() {
        #expect(
            ReplayProgress.line(500, of: 1000, rate: 100)
                == "[##########----------] 50 %  500 of 1000  100/s  5 s left"
        )
        #expect(
            ReplayProgress.line(0, of: 0, rate: 0) == "[####################] 100 %  0 of 0"
        )
    }

    // MARK: - Files

    private func withDirectory(_ body: (String) async throws -> Void) async throws {
        let path = NSTemporaryDirectory() + "/replay-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }  // A leftover does no harm.
        try await body(path)
    }

    private func written(_ rows: [OutboxRow], to path: String) throws -> EventFileManifest {
        let writer = try EventFileWriter(path)
        try writer.write(rows.map(ExactRow.init), of: "fulfillment")
        return try writer.finish()
    }

    private static func mode(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func aFileGivesBackWhatWasPutIntoIt() async throws {
        try await withDirectory { directory in
            let path = directory + "/events.jsonl"
            // Longer than what is read at once, and with what JSON has to escape.
            let text = #"{"a":"\n\u0001 ü 😀","b":"# + String(repeating: "1", count: 3000) + "}"
            let rows = (1...500).map { row($0, subject: "s\($0)\t\"", data: text) }
            let manifest = try written(rows, to: path)
            #expect(manifest.events == 500)
            #expect(try Self.mode(of: path) == 0o600)
            var read: [OutboxRow] = []
            let cursor = try EventFileReader(path).open()
            while case let page = try cursor.next(), !page.isEmpty {
                #expect(page.allSatisfy { $0.service == "fulfillment" })
                read += page.map(\.row.row)
            }
            #expect(read.map(\.place) == rows.map(\.place))
            #expect(read.map(\.event.data) == rows.map(\.event.data))
            #expect(read.map(\.event.subject) == rows.map(\.event.subject))
            #expect(read.map(\.event.id) == rows.map(\.event.id))
            let error = #expect(throws: ArchiveError.self) { _ = try written(rows, to: path) }
            #expect(error?.description.contains("not written over") == true)
        }
    }

    @Test func aFileThatWasCutOrChangedIsRefused() async throws {
        try await withDirectory { directory in
            let path = directory + "/events.jsonl"
            _ = try written((1...10).map { row($0) }, to: path)
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            var other = whole
            other[20] ^= 1
            for (data, words) in [
                (whole.dropLast(5), "it was cut or added to"), (whole + whole, "cut or added"),
                (other, "not the file that its manifest is of"),
            ] {
                try Data(data).write(to: URL(fileURLWithPath: path))
                let error = #expect(throws: ArchiveError.self) { _ = try EventFileReader(path) }
                #expect(error?.description.contains(words) == true)
            }
            try FileManager.default.removeItem(atPath: EventFileManifest.path(of: path))
            let error = #expect(throws: ArchiveError.self) { _ = try EventFileReader(path) }
            #expect(error?.description.contains("no manifest") == true)
        }
    }

    @Test func aJournalGoesOnWhereItWas() async throws {
        try await withDirectory { directory in
            let path = directory + "/replay.journal"
            var journal = ReplayJournal(
                id: EventID(time: Self.now),
                selection: ReplaySelection(topics: ["receipts.issued"], since: Self.now),
                consumer: "fulfillment",
                rate: 10,
                total: 7,
                ends: ["receipts": "9:9"]
            )
            #expect(journal.place(in: "receipts") == .start)
            journal.places["receipts"] = "5:5"
            try journal.write(to: path)
            #expect(try Self.mode(of: path) == 0o600)
            // A journal replaces one that others may read, and is not readable itself.
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            try journal.write(to: path)
            #expect(try Self.mode(of: path) == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 1)
            let read = try ReplayJournal.read(path)
            #expect(read.place(in: "receipts") == LogPlace(xid: 5, position: 5))
            #expect(read.end(of: "receipts") == LogPlace(xid: 9, position: 9))
            #expect(read.selection == journal.selection)
            try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
            let error = #expect(throws: OperatorError.self) { _ = try ReplayJournal.read(path) }
            #expect(error?.code == .usage)
        }
    }

    // MARK: - At a database

    @Test func aSecondReplayLearnsWhoRunsTheFirst() async throws {
        let migrations = MessagingMigrations.all(role: "counterfoil_payments")
        try await withTestDatabase(migrations: migrations) { database in
            let address = try DatabaseOptions.parse([
                "--payments-database-url", database.url(role: PostgresCluster.operatorRole),
            ]).address(of: .payments, [:])
            try await OperatorLockStore.withLocks([address]) {
                let error = await #expect(throws: OperatorError.self) {
                    try await OperatorLockStore.withLocks([address]) {}
                }
                let text = error?.description ?? ""
                #expect(text.contains("counterfoil replay, process \(getpid()) on "))
                #expect(text.contains("since 2"))
            }
            // It ends with its holder.
            try await OperatorLockStore.withLocks([address]) {}
        }
    }

    /// PostgreSQL shows a session of another role without its machine and its time.
    @Test func theConsoleAndTheCommandLineLearnOfEachOthersReplays() async throws {
        let migrations = MessagingMigrations.all(role: "counterfoil_payments")
        try await withTestDatabase(migrations: migrations) { database in
            let addresses = try [PostgresCluster.operatorRole, PostgresCluster.readerRole].map {
                try DatabaseOptions.parse(["--payments-database-url", database.url(role: $0)])
                    .address(of: .payments, [:])
            }
            for (first, second) in [(0, 1), (1, 0)] {
                let other = addresses[second]
                try await OperatorLockStore.withLocks([addresses[first]]) {
                    let error = await #expect(throws: OperatorError.self) {
                        try await OperatorLockStore.withLocks([other]) {}
                    }
                    let text = error?.description ?? ""
                    #expect(text.contains("Another replay of payments is under way"), "\(text)")
                    #expect(text.contains("counterfoil replay, process \(getpid()) on "))
                }
            }
        }
    }
}
