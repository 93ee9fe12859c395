import EventTypes
import Foundation
import Postgres
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// `counterfoil replay --source kafka`, with events that are still in the broker and events
    /// that are not.
    @Suite
    struct BrokerReplays {
        @Test func eventsInTheBrokerAreReadSentAndWrittenToAFile() async throws {
            try await withStore(.with(partitions: 2)) { store in
                try await store.importSampleCatalog()
                let payments = [try await store.buy(), try await store.buy(as: "bob")]
                try await store.expectWhole(payments)
                let topic = Topics.paymentsTransactions.name
                let source = ["replay", "--source", "kafka", "--topic", topic]
                let plan = try await store.operatorSays(source)
                #expect(plan.contains("2 events of 2 accounts"), "\(plan)")
                #expect(!plan.contains("and not"), "\(plan)")
                #expect(plan.contains("Nothing was sent"), "\(plan)")
                // The events equal those in the event log, byte for byte.
                let (kafka, log) = (
                    store.directory + "/kafka.jsonl", store.directory + "/log.jsonl"
                )
                _ = try await store.operatorSays(source + ["--to-file", kafka, "--execute"])
                _ = try await store.operatorSays([
                    "replay", "--topic", topic, "--to-file", log, "--execute",
                ])
                let lines = try [kafka, log].map {
                    Set(try String(contentsOfFile: $0, encoding: .utf8).split(separator: "\n"))
                }
                #expect(lines[0] == lines[1] && lines[0].count == 2)
                // Replay again to a consumer without its places: nothing happens twice.
                try await store.withDatabase(of: .receipts) { connection in
                    _ = try connection.execute("DELETE FROM consumer_places")
                }
                let sent = try await store.operatorSays(
                    source + ["--consumer", "receipts", "--execute"]
                )
                #expect(sent.contains("receipts has not done 2 of them"), "\(sent)")
                #expect(sent.contains("Done: 2 events were sent."), "\(sent)")
                try await eventually("the events to be done again") {
                    let plan = try await store.operatorSays(source + ["--consumer", "receipts"])
                    return plan.contains("receipts has done all of it") ? true : nil
                }
                try await store.expectWhole(payments)
                // The republished events are in the topic, but are not new events.
                let after = try await store.operatorSays(source)
                #expect(after.contains("2 events of 2 accounts"), "\(after)")
            }
        }

        @Test func offsetsSelectAndOnlyOfOneTopic() async throws {
            try await withStore(.with(partitions: 1)) { store in
                try await store.importSampleCatalog()
                var payments: [AcceptedPayment] = []
                for _ in 0..<4 { payments.append(try await store.buy()) }
                try await store.expectWhole(payments)
                let topic = Topics.paymentsTransactions.name
                func plan(_ more: String...) async throws -> ProgramAnswer {
                    try await store.counterfoil(["replay", "--source", "kafka"] + more)
                }
                let some = try await plan(
                    "--topic",
                    topic,
                    "--from-offset",
                    "1",
                    "--to-offset",
                    "2"
                )
                #expect(some.output.contains("2 events of 1 accounts"), "\(some)")
                let part = try await plan("--topic", topic, "--partition", "7")
                #expect(part.exit == .code(1), "\(part)")
                #expect(try await plan("--from-offset", "1").exit == .code(64))
                let none = try await plan(
                    "--topic",
                    topic,
                    "--from-offset",
                    "3",
                    "--to-offset",
                    "2"
                )
                #expect(none.exit == .code(64))
                #expect(
                    try await store.counterfoil("replay", "--from-offset", "1").exit == .code(64)
                )
                let late = try await plan("--topic", topic, "--since", "2020-01-01T00:00:00Z")
                #expect(late.output.contains("4 events of 1 accounts"), "\(late)")
            }
        }

        @Test func whatTheBrokerHasLostIsCountedAgainstTheLog() async throws {
            try await withStore(.with(partitions: 1)) { store in
                try await store.importSampleCatalog()
                let payments = [try await store.buy(), try await store.buy(as: "bob")]
                try await store.expectWhole(payments)
                try await store.broker.restart()
                // The relay fills the new log with unconfirmed events. The others are gone.
                let later = try await store.buy(as: "bob")
                try await store.expectWhole(payments + [later])
                let plan = try await store.operatorSays([
                    "replay", "--source", "kafka", "--topic", Topics.paymentsTransactions.name,
                ])
                let has = plan.firstMatch(of: /(\d+) events of \d+ accounts/).flatMap { Int($0.1) }
                let lacks = plan.firstMatch(of: /and not (\d+) events/).flatMap { Int($0.1) }
                #expect((has ?? 0) + (lacks ?? 0) == 3 && has ?? 0 >= 1, "\(plan)")
            }
        }

        @Test func aVersionThatIsNotKnownIsNamedAndNeverHalfRead() async throws {
            try await withStore(.with(partitions: 1)) { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy()
                try await store.expectWhole([payment])
                // A newer `payments` publishes a version that no service here knows.
                try await store.withDatabase(of: .payments) { connection in
                    _ = try connection.execute(
                        """
                        INSERT INTO outbox (xid, event_id, type, topic, key, subject, time, data)
                        SELECT outbox_place(), gen_random_uuid(), 'transaction.purchased.v9', topic,
                            'carl', '77', time, data
                        FROM outbox WHERE type = 'transaction.purchased.v1'
                        """
                    )
                }
                let place = "transaction.purchased.v9 at payments.transactions/0/1"
                let letters = try await eventually(
                    every: .milliseconds(200),
                    "receipts to refuse it"
                ) {
                    let answer = try await store.counterfoil("dead-letters", "list", "--json")
                    return answer.output.contains(place) ? answer.output : nil
                }
                #expect(letters.contains("has an unknown version"), "\(letters)")
                let source = [
                    "replay", "--source", "kafka", "--topic", Topics.paymentsTransactions.name,
                    "--execute",
                ]
                let refused = try await store.counterfoil(source)
                #expect(refused.exit == .code(1), "\(refused)")
                #expect(refused.output.contains("transaction.purchased.v9"), "\(refused)")
                #expect(refused.output.contains("at payments.transactions/0/1"), "\(refused)")
                let left = try await store.counterfoil(source + ["--skip-unreadable"])
                #expect(left.exit == .code(0), "\(left)")
                #expect(left.output.contains("Done: 1 events were sent."), "\(left)")
                // Another account is not affected.
                try await store.finish([try await store.buy(as: "bob")])
            }
        }
    }
}

extension StoreOptions {
    fileprivate static func with(partitions: Int) -> StoreOptions {
        var options = StoreOptions()
        options.partitions = partitions
        return options
    }
}
