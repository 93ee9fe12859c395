import EventTypes
import Foundation
import Postgres
import TestSupport
import Testing

extension EndToEnd {
    /// `counterfoil log`: old months of the event logs are moved out of the databases and stay
    /// readable.
    @Suite
    struct Retention {
        /// Runs a test with a store whose first purchases were made in an earlier month.
        ///
        /// A test cannot wait for a month. It moves the first half of the log to an earlier month,
        /// and the services' own relays seal it again. The test compares the parts of the proof
        /// that are the same before and after the month has left the database.
        private func withOldLog(
            _ body: (StoreHarness, String) async throws -> Void
        ) async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let old = [
                    try await store.buy(), try await store.buy(SampleCatalog.pro, as: "bob"),
                ]
                try await store.expectWhole(old)
                for process in store.processes { try await process.terminate() }
                for service in StoreService.allCases {
                    try await store.withDatabase(of: service) { connection in
                        for statement in Self.aging {
                            try connection.execute("\(unsafe: statement)")
                        }
                    }
                }
                for process in store.processes { try await process.start() }
                let new = [try await store.buy(), try await store.buy(as: "carol")]
                try await store.expectWhole(old + new)
                try await eventually(every: .milliseconds(200), "everything to be sealed") {
                    let said = try await store.counterfoil("verify")
                    return said.exit == .code(0) && !said.output.contains("wait for") ? true : nil
                }
                try await body(store, store.directory + "/archives")
            }
        }

        private static let aging = [
            """
            CREATE TABLE outbox_2026_02 PARTITION OF outbox
            FOR VALUES FROM ('2026-02-01Z') TO ('2026-03-01Z')
            """,
            "UPDATE outbox SET time = '2026-02-14Z'::timestamptz + (time - date_trunc('day', time))",
            "DELETE FROM log_seals WHERE log = 'outbox'",
        ]

        @Test func aMonthLeavesAndTheLogIsAsWholeAsBefore() async throws {
            try await withOldLog { store, directory in
                let heads = try await store.operatorSays(["verify", "--heads-only"])
                let before = try await report(store)
                let listed = try await store.operatorSays(["log", "list"])
                #expect(listed.contains("2026-02"))
                #expect(listed.contains("not over"))

                let due = try await store.operatorSays([
                    "log", "retain", "--keep", "3", "--to", directory,
                ])
                #expect(due.contains("payments 2026-02: is due"))
                let done = try await store.operatorSays([
                    "log", "retain", "--keep", "3", "--to", directory, "--execute",
                ])
                for service in StoreService.allCases {
                    #expect(done.contains("\(service.rawValue) 2026-02: "))
                }
                #expect(done.contains("dropped here"))
                let again = try await store.operatorSays([
                    "log", "retain", "--keep", "3", "--to", directory, "--execute",
                ])
                #expect(again.contains("Nothing is due"))

                // The chains have the same values with and without the files.
                let file = store.directory + "/heads"
                try Data(heads.utf8).write(to: URL(fileURLWithPath: file))
                let checked = try await store.operatorSays(["verify", "--heads", file])
                #expect(checked.contains("were not looked at"))
                _ = try await store.operatorSays([
                    "verify", "--heads", file, "--archives", directory,
                ])

                // The proof reads the files and has the same result.
                let refused = try await store.verify()
                #expect(refused.output.contains("--archives"))
                #expect(refused.exit == .code(1))
                #expect(try await report(store, ["--archives", directory]) == before)

                // Events republished from a file are recognized, however old they are.
                let payments = directory + "/payments-2026-02.jsonl.gz"
                let plan = try await store.operatorSays(["replay", "--from-file", payments])
                #expect(plan.contains("receipts has done all of it"))
                let gap = try await store.counterfoil("replay", "--account", "ada")
                #expect(gap.exit == .code(1))
                #expect(gap.output.contains("-2026-02.jsonl.gz"))
                let applied = try await store.appliedEvents()
                let sent = try await store.operatorSays([
                    "replay", "--archives", directory, "--execute", "--rate", "1000",
                ])
                #expect(sent.contains("Done: "))
                #expect(try await store.appliedEvents() == applied)
                // The store continues. The story of an old purchase names the file of its events.
                let later = try await store.buy(as: "dave")
                try await eventually("the later purchase to be done") {
                    let story = try await store.operatorSays(["why", "\(later.transactionID)"])
                    return story.contains("The app has not finished it") ? true : nil
                }
                let first = try await store.firstTransaction()
                try await store.withDatabase(of: .payments) { connection in
                    _ = try connection.execute(
                        "UPDATE transactions SET requested_at = '2026-02-14Z' WHERE id = \(first)"
                    )
                }
                let story = try await store.operatorSays(["why", "\(first)"])
                #expect(story.contains("payments-2026-02.jsonl.gz"))
            }
        }

        @Test func aFileThatWasCutOrEditedIsFoundAndNothingIsDropped() async throws {
            try await withOldLog { store, directory in
                _ = try await store.operatorSays([
                    "log", "export", "--month", "2026-02", "--to", directory,
                ])
                let path = directory + "/payments-2026-02.jsonl.gz"
                let whole = try Data(contentsOf: URL(fileURLWithPath: path))
                try whole.dropLast(9).write(to: URL(fileURLWithPath: path))
                let drop = ["log", "drop", "--month", "2026-02", "--from", directory, "--execute"]
                let cut = try await store.counterfoil(drop + ["--service", "payments"])
                #expect(cut.exit == .code(1))
                #expect(cut.output.contains("cut or added to"))
                try whole.write(to: URL(fileURLWithPath: path))
                let dropped = try await store.operatorSays(drop + ["--service", "payments"])
                #expect(dropped.contains("dropped here"))

                // A month with an edited row cannot leave unnoticed.
                try await store.withDatabase(of: .receipts) { connection in
                    _ = try connection.execute(
                        "UPDATE outbox SET key = 'mallory' WHERE time < '2026-03-01Z'"
                    )
                }
                let other = store.directory + "/others"
                let edited = try await store.counterfoil([
                    "log", "retain", "--keep", "1", "--to", other, "--execute", "--service",
                    "receipts",
                ])
                #expect(edited.exit == .code(1))
                #expect(edited.output.contains("is not as it was sealed"))
                let kept = try await store.operatorSays(["log", "list", "--service", "receipts"])
                #expect(!kept.contains("receipts-2026-02.jsonl.gz"))

                // A month whose last event is not sealed yet cannot leave either. This is not an
                // error.
                try await store.process(.catalog).terminate()
                try await store.withDatabase(of: .catalog) { connection in
                    _ = try connection.execute(
                        """
                        INSERT INTO outbox (event_id, type, topic, key, subject, time, data)
                        SELECT gen_random_uuid(), type, topic, key, subject, earlier, data
                        FROM (SELECT * FROM outbox WHERE time < '2026-03-01Z' LIMIT 1) AS event,
                            LATERAL (VALUES (time), (time - interval '1 month')) AS at (earlier)
                        """
                    )
                }
                // No event of the second month is sealed.
                for month in ["2026-02", "2026-01"] {
                    let early = try await store.counterfoil([
                        "log", "export", "--month", month, "--to", other, "--service", "catalog",
                    ])
                    #expect(early.exit == .code(69))
                    #expect(early.output.contains("not sealed yet"))
                    let file = other + "/catalog-\(month).jsonl.gz"
                    #expect(!FileManager.default.fileExists(atPath: file))
                }
            }
        }

        @Test(arguments: [
            (["log", "export", "--month", "2026-13", "--to", "x"], 64, "is not a month"),
            (["log", "export", "--to", "x"], 64, "--month 2026-01"),
            (["log", "retain", "--keep", "0", "--to", "x"], 64, "1 to 1200"),
        ])
        func whatMakesNoSenseIsRefusedInWords(
            _ arguments: [String],
            _ code: Int32,
            _ words: String
        ) async throws {
            try await withStore { store in
                let said = try await store.counterfoil(arguments)
                #expect(said.exit == .code(code))
                #expect(said.output.contains(words), "\(said)")
            }
        }

        /// Returns the result of the proof without its duration.
        private func report(
            _ store: StoreHarness,
            _ arguments: [String] = []
        ) async throws -> String {
            let said = try await store.verify(with: ["--json"] + arguments)
            let lines = said.output.split(separator: "\n").filter { line in
                !line.contains("illiseconds") && !line.contains(" · ")
            }
            #expect(lines.contains { $0.contains("\"tables\"") }, "\(said)")
            return lines.joined(separator: "\n")
        }
    }
}
