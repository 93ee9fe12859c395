import ClockAndIDs
import EventTypes
import Postgres
import Testing
import TestSupport

@testable import Messaging
@testable import Seals

/// Changes to the log by somebody with all rights are found, with their places.
@Suite(.timeLimit(.minutes(10)))
struct SealCheckTests {
    /// The report about a log of 100 events over two months, in seals of 10, that a statement has
    /// changed.
    private func report(after sql: SQL, changes: Int = 1) async throws -> SealReport {
        var report = SealReport()
        try await SealedDatabase.with { log in
            try await log.append(0..<100)
            try await log.seal()
            #expect(try await log.check().findings == [])
            #expect(try await log.tamper(sql) == changes)
            report = try await log.check()
        }
        return report
    }

    private func subjects(_ report: SealReport) -> [String] {
        report.findings.map(\.description)
    }

    @Test func whatNobodyHasTouchedIsFoundRight() async throws {
        try await SealedDatabase.with { log in
            try await log.append(0..<100)
            try await log.seal()
            let report = try await log.check()
            #expect(report.findings == [])
            #expect(report.months.map(\.month.description) == ["2025-11", "2025-12"])
            #expect(report.months.map(\.rows) == [60, 40])
            #expect(report.months.map(\.seals) == [6, 4])
            #expect(report.unsealedRows == 0)
        }
    }

    @Test(arguments: [
        "type = 'transaction.purchased.v1'", "topic = 'catalog.products'", "key = 'bob'",
        "subject = '34'", "time = time + interval '1 microsecond'", "traceparent = ''",
        #"data = '{"number": 33}'"#, "event_id = gen_random_uuid()",
    ])
    func aRowThatWasEditedIsNamed(_ change: String) async throws {
        let report = try await report(
            after: "UPDATE outbox SET \(unsafe: change) WHERE subject = '33'"
        )
        try #require(report.findings.count == 1, "\(subjects(report))")
        #expect(report.findings[0].kind == .editedRow)
        #expect(report.findings[0].month == LogMonth("2025-11"))
        #expect(report.findings[0].place?.position == 34)
    }

    @Test func aRowWhosePlaceWasChangedIsFound() async throws {
        let report = try await report(
            after: "UPDATE outbox SET position = position + 1000 WHERE subject = '33'"
        )
        #expect(Set(report.findings.map(\.kind)) == [.missingRows, .lateSeal])
    }

    @Test func aRowThatWasMovedToAnotherMonthIsFoundInBoth() async throws {
        let report = try await report(
            after: "UPDATE outbox SET time = time + interval '1 day' WHERE subject = '33'"
        )
        // An inserted row is found when it is read, a missing one at the end of its seal.
        #expect(report.findings.map(\.kind) == [.insertedRow, .missingRows])
        #expect(report.findings.map(\.month?.description) == ["2025-12", "2025-11"])
        #expect(report.findings.map(\.place?.position) == [34, 33])
    }

    @Test func rowsThatAreGoneArePlacedBetweenTheirNeighbours() async throws {
        let report = try await report(
            after: "DELETE FROM outbox WHERE subject IN ('33', '34', '71')",
            changes: 3
        )
        #expect(report.findings.map(\.kind) == [.missingRows, .missingRows])
        #expect(report.findings.map(\.count) == [2, 1])
        #expect(report.findings.map(\.place?.position) == [33, 71])
    }

    @Test func aRowThatWasPutInIsNamed() async throws {
        let report = try await report(
            after: """
                INSERT INTO outbox (position, xid, event_id, type, topic, key, subject, time, data)
                SELECT 1000, xid, gen_random_uuid(), type, topic, key, '33a', time, data
                FROM outbox WHERE subject = '33'
                """
        )
        // One database transaction wrote the whole log, so position 1000 sorts as its last row.
        #expect(report.findings.map(\.kind) == [.lateSeal])
        let between = try await self.report(
            after: """
                INSERT INTO outbox (position, xid, event_id, type, topic, key, subject, time, data)
                SELECT 34, xid, gen_random_uuid(), type, topic, key, '33a', time, data
                FROM outbox WHERE subject = '33'
                """
        )
        #expect(between.findings.map(\.kind) == [.insertedRow])
        #expect(between.findings.first?.place?.position == 34)
    }

    @Test func aRowOfAMonthThatWasNeverSealedIsNamed() async throws {
        let report = try await report(
            after: """
                INSERT INTO outbox (position, xid, event_id, type, topic, key, subject, time, data)
                SELECT 34, xid, gen_random_uuid(), type, topic, key, '33a',
                    time - interval '2 months', data
                FROM outbox WHERE subject = '33'
                """
        )
        #expect(report.findings.map(\.kind) == [.insertedRow])
        #expect(report.findings.first?.month == LogMonth("2025-09"))
    }

    @Test func aCutHeadIsFound() async throws {
        let rows = try await report(
            after: "DELETE FROM outbox WHERE position <= 30",
            changes: 30
        )
        #expect(rows.findings.map(\.kind) == [.missingRows])
        #expect(rows.findings.map(\.count) == [30])
        #expect(rows.findings.first?.seals == 1...3)
        let both = try await report(
            after: """
                WITH cut AS (DELETE FROM outbox WHERE position <= 30)
                DELETE FROM log_seals WHERE last_position <= 30
                """,
            changes: 3
        )
        #expect(both.findings.map(\.kind) == [.missingSeals])
        #expect(both.findings.first?.seals == 1...3)
    }

    @Test func aCutTailIsFound() async throws {
        let rows = try await report(
            after: "DELETE FROM outbox WHERE position > 85",
            changes: 15
        )
        #expect(rows.findings.map(\.kind) == [.missingRows, .missingRows])
        #expect(rows.findings.map(\.count) == [5, 10])
        let both = try await report(
            after: """
                WITH cut AS (DELETE FROM outbox WHERE position > 80)
                DELETE FROM log_seals WHERE last_position > 80
                """,
            changes: 2
        )
        #expect(both.findings.map(\.kind) == [.cutTail])
        #expect(both.findings.first?.place?.position == 80)
    }

    @Test func aMonthThatIsGoneWithItsSealsIsMissedByTheNext() async throws {
        let report = try await report(
            after: """
                WITH cut AS (DELETE FROM outbox WHERE time < '2025-12-01Z')
                DELETE FROM log_seals WHERE month = '2025-11'
                """,
            changes: 6
        )
        #expect(report.findings.map(\.kind) == [.missingSeals])
        #expect(report.findings.first?.month == LogMonth("2025-12"))
    }

    @Test func aSealThatIsGoneOrWasEditedIsNamed() async throws {
        let gone = try await report(
            after: "DELETE FROM log_seals WHERE month = '2025-11' AND number = 4"
        )
        #expect(gone.findings.map(\.kind) == [.missingSeals])
        #expect(gone.findings.first?.seals == 4...4)
        for change in [
            "digest = sha256('x')", "follows_number = 1", "first_position = first_position + 1",
        ] {
            let edited = try await report(
                after: """
                    UPDATE log_seals SET \(unsafe: change) WHERE month = '2025-11' AND number = 4
                    """
            )
            #expect(!edited.findings.isEmpty, "\(change)")
            #expect(edited.findings.allSatisfy { $0.month == LogMonth("2025-11") })
        }
    }

    /// Somebody who edits a row and makes its seal again breaks the next seal.
    ///
    /// Somebody who makes all later seals again changes the head.
    @Test func aLogThatWasSealedAgainIsFoundByANotedHead() async throws {
        try await SealedDatabase.with { log in
            try await log.append(0..<100)
            try await log.seal()
            let before = try await log.check()
            let expectations = before.months.map {
                SealCheck.Expectation(log: $0.log, month: $0.month, head: $0.head)
            }
            // More was sealed since; the chain still passes through what was written down.
            try await log.append(100..<120)
            try await log.seal()
            #expect(try await log.check(expectations).findings == [])

            _ = try await log.tamper("UPDATE outbox SET key = 'bob' WHERE subject = '33'")
            let kept = try await log.tamper(
                "DELETE FROM log_seals WHERE month > '2025-11' OR number > 3"
            )
            #expect(kept == 9)
            try await log.seal()
            #expect(try await log.check().findings == [], "A chain made anew is a chain.")
            let found = try await log.check(expectations).findings
            #expect(found.map(\.kind) == [.otherHead, .otherHead])
        }
    }

    @Test func rowsThatWaitAreCountedAndThoseThatWaitTooLongReported() async throws {
        try await SealedDatabase.with { log in
            // They are of a time to come: on a busy server it may be a minute until they are settled.
            let soon = StoreTime.wallClock().advanced(by: .seconds(600))
            try await log.append(0..<10, from: soon.millisecondsSinceEpoch)
            _ = try await log.settled(after: .start)
            var report = try await log.check()
            #expect(report.unsealedRows == 10)
            #expect(report.findings == [])
            try await log.append(10..<11, from: 1_700_000_000_000)
            _ = try await log.settled(after: .start)
            report = try await log.check()
            #expect(report.unsealedRows == 11)
            #expect(report.findings.map(\.kind) == [.lateSeal])
        }
    }

    @Test func theServiceMayAddSealsAndChangeNone() async throws {
        try await SealedDatabase.with { log in
            try await log.append(0..<10)
            try await log.seal()
            try await log.database.withClient(role: "counterfoil_payments") { client in
                for statement: SQL in [
                    "UPDATE log_seals SET row_count = 1", "DELETE FROM log_seals",
                    "TRUNCATE log_seals",
                ] {
                    let error = await #expect(throws: PostgresError.self) {
                        try await client.withConnection { try $0.execute(statement) }
                    }
                    #expect(error?.sqlState == "42501")
                }
            }
        }
    }
}

/// The months that chains are over.
@Suite struct LogMonthTests {
    @Test func everyDayIsOfTheMonthThatItsTimestampSays() {
        // From 1968 into 2100, which is no leap year; both ends of each day.
        for day in Int64(-700)..<47_600 {
            let midnight = day * 86_400_000
            for milliseconds in [midnight, midnight + 86_399_999] {
                let text = StoreTime(millisecondsSinceEpoch: milliseconds).description.prefix(7)
                let month = LogMonth(microsecondsSinceEpoch: milliseconds * 1000 + 999)
                if month.description != text {
                    Issue.record("\(month) for \(text)")
                    return
                }
            }
        }
    }

    @Test func whatIsNoMonthIsNone() {
        #expect(LogMonth("2026-11")?.description == "2026-11")
        for text in ["2026-13", "2026-1", "2026", "", "2026-11-01", "x026-11"] {
            #expect(LogMonth(text) == nil)
        }
    }
}
