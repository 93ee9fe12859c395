import EventTypes
import Foundation
import Postgres
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// `counterfoil verify` and `counterfoil replay`, run by an operator.
    @Suite
    struct Replays {
        @Test func everythingSentAgainChangesNothing() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let payments = [
                    try await store.buy(), try await store.buy(as: "bob"),
                    try await store.buy(SampleCatalog.pro, as: "bob"),
                ]
                try await store.expectWhole(payments)
                let heads = try await store.operatorSays(["verify", "--heads-only"])
                // Fulfillment lets an event of a purchase that has begun grow old before it reads it.
                let plan = try await eventually("fulfillment to have done all of it") {
                    let plan = try await store.operatorSays(["replay"])
                    return plan.contains("fulfillment has done all of it") ? plan : nil
                }
                #expect(plan.contains("receipts has done all of it"))
                #expect(plan.contains("payments has done all of it"))
                #expect(plan.contains("Nothing was sent"))
                let done = try await store.operatorSays(["replay", "--execute", "--rate", "1000"])
                #expect(done.contains("Done: "))
                let applied = try await store.appliedEvents()
                try await store.expectWhole(payments)
                #expect(try await store.appliedEvents() == applied)
                // Later events are processed as usual, after all republished ones.
                let later = try await store.buy(as: "bob")
                try await store.expectWhole(payments + [later])
                let file = store.directory + "/heads"
                try Data(heads.utf8).write(to: URL(fileURLWithPath: file))
                _ = try await store.operatorSays(["verify", "--heads", file])
            }
        }

        /// The places recognize duplicates first.
        ///
        /// In addition, the effects have unique keys.
        @Test func evenConsumersThatHaveLostTheirPlacesDoNothingTwice() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let payments = [try await store.buy(), try await store.buy(as: "bob")]
                try await store.expectWhole(payments)
                for service in [StoreService.receipts, .fulfillment, .payments] {
                    try await store.withDatabase(of: service) { connection in
                        _ = try connection.execute("DELETE FROM consumer_places")
                    }
                }
                let plan = try await store.operatorSays(["replay", "--consumer", "receipts"])
                #expect(plan.contains("receipts has not done"))
                #expect(!plan.contains("fulfillment has not done"))
                _ = try await store.operatorSays(["replay", "--execute", "--rate", "1000"])
                try await eventually("the events to be done again") {
                    let plan = try await store.operatorSays(["replay"])
                    return plan.contains("has not done") ? nil : true
                }
                try await store.expectWhole(payments)
            }
        }

        @Test func aReplayThatWasKilledGoesOn() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let payments = [try await store.buy(), try await store.buy(as: "bob")]
                try await store.expectWhole(payments)
                let arguments = ["replay"]
                let journal = store.directory + "/replay.journal"
                let child = try await store.startCounterfoil(
                    arguments + ["--execute", "--rate", "2", "--journal", journal]
                )
                try await eventually("the journal") {
                    FileManager.default.fileExists(atPath: journal) ? true : nil
                }
                let second = await #expect(throws: HarnessError.self) {
                    try await store.operatorSays(arguments + ["--execute"])
                }
                #expect("\(try #require(second))".contains("process \(child.id) on"))
                child.send(SIGKILL)
                _ = await child.exit()
                let done = try await store.operatorSays(["replay", "--resume", journal])
                #expect(done.contains("Done: "))
                let again = try await store.operatorSays(["replay", "--resume", journal])
                #expect(again.contains("is complete"))
                try await store.expectWhole(payments)
            }
        }

        @Test func anInterruptedReplaySaysHowItGoesOn() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                var payments: [AcceptedPayment] = []
                for buyer in ["ada", "bob", "carl", "dora"] {
                    payments.append(try await store.buy(as: buyer))
                }
                try await store.expectWhole(payments)
                let journal = store.directory + "/replay.journal"
                let child = try await store.startCounterfoil([
                    "replay", "--topic", Topics.paymentsTransactions.name, "--execute", "--rate",
                    "1", "--journal", journal,
                ])
                try await eventually("the replay to be under way") {
                    let log = try String(contentsOfFile: child.logPath, encoding: .utf8)
                    return log.contains("%  1 of") ? true : nil
                }
                child.send(SIGINT)
                #expect(await child.exit() == .code(130))
                let log = try String(contentsOfFile: child.logPath, encoding: .utf8)
                #expect(log.contains("counterfoil replay --resume \(journal)"))
                _ = try await store.operatorSays(["replay", "--resume", journal])
                try await store.expectWhole(payments)
            }
        }

        @Test func archivedEventsAreSentFromTheirFile() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let payments = [try await store.buy(), try await store.buy(as: "bob")]
                try await store.expectWhole(payments)
                let file = store.directory + "/ada.jsonl"
                let kept = try await store.operatorSays([
                    "replay", "--account", "ada", "--to-file", file, "--execute",
                ])
                #expect(kept.contains("SHA-256"))
                let sent = try await store.operatorSays([
                    "replay", "--from-file", file, "--execute", "--consumer", "fulfillment",
                ])
                #expect(sent.contains("Done: "))
                #expect(sent.contains("fulfillment has done all of it"))
                try await store.expectWhole(payments)
            }
        }

        @Test func aLogThatWasCutIsNotReplayed() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy()
                try await store.expectWhole([payment])
                try await store.withDatabase(of: .payments) { connection in
                    _ = try connection.execute(
                        "DELETE FROM outbox WHERE type = 'transaction.purchased.v1'"
                    )
                }
                for arguments in [["replay"], ["verify", "--service", "payments"]] {
                    let error = await #expect(throws: HarnessError.self) {
                        try await store.operatorSays(arguments)
                    }
                    #expect("\(try #require(error))".contains("missing rows"))
                }
                _ = try await store.operatorSays(["replay", "--unverified"])
            }
        }
    }
}

extension StoreHarness {
    /// Runs the operator's command line on this store.
    ///
    /// - Returns: Its output.
    /// - Throws: ``HarnessError`` with its output if it fails.
    func operatorSays(_ arguments: [String]) async throws -> String {
        let needsJournal =
            arguments.first == "replay" && arguments.contains("--execute")
            && !arguments.contains("--to-file") && !arguments.contains("--from-file")
        return try await ChildProcess.run(
            try BuiltExecutables.path("counterfoil"),
            arguments + (needsJournal ? ["--journal", directory + "/a.journal"] : []),
            environment: operatorEnvironment
        )
    }

    /// Starts the operator's command line on this store.
    func startCounterfoil(_ arguments: [String]) async throws -> ChildProcess {
        try await ChildProcess.start(
            try BuiltExecutables.path("counterfoil"),
            arguments,
            environment: operatorEnvironment,
            logPath: directory + "/counterfoil.log"
        )
    }
}
