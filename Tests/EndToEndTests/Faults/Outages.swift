import ClockAndIDs
import EventTypes
import Foundation
import Kafka
import Logging
import NIOHTTP1
import Postgres
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// Systems that the store depends on fail and recover, and instances die.
    ///
    /// All purchases are completed.
    @Suite
    struct Outages {
        @Test func postgresIsAwayForAWhileAndBack() async throws {
            try await withStore(.with(database: .own)) { store in
                try await store.importSampleCatalog()
                var payments = [try await store.buy(as: "before")]
                let client = try store.client(account: "during")
                _ = try await client.payingMethod()
                try store.cluster.stop(.immediate)
                let refused = try await client.add(.sample(), key: "while-away")
                #expect(refused.status == 503)
                #expect(refused.response.headers.contains(name: "retry-after"))
                for process in store.processes { #expect(await !process.isReady()) }
                try await store.cluster.start()
                try await store.waitUntilReady()
                let answer = try await client.addUntilAnswered(.sample(), key: "while-away").value
                payments.append(
                    AcceptedPayment(
                        transactionID: answer.transaction.id,
                        account: client.account
                    )
                )
                payments.append(try await store.buy(as: "after"))
                try await store.expectWhole(payments)
            }
        }

        @Test func brokerIsKilledAndComesBackEmpty() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                var payments: [AcceptedPayment] = []
                for number in 0..<6 {
                    payments.append(try await store.buy(as: "before-\(number)"))
                }
                await store.broker.kill()
                // Without a broker payments are still accepted, because PostgreSQL is the source of
                // truth.
                for number in 0..<6 {
                    payments.append(try await store.buy(as: "during-\(number)"))
                }
                try await store.broker.restart()
                payments.append(try await store.buy(as: "after"))
                try await store.expectWhole(payments)
            }
        }

        @Test(.enabled(if: BrokerProgram.chosen.mayHaveSeveralNodes, "KAFKA_HOME is not set"))
        func oneOfThreeBrokersIsKilledAndStaysAway() async throws {
            var options = StoreOptions()
            options.brokers = 3
            try await withStore(options) { store in
                try await store.importSampleCatalog()
                var payments = [try await store.buy(as: "before")]
                try await store.expectWhole(payments)
                for node in store.broker.nodes {
                    await store.broker.kill(node: node)
                    // There are more accounts than partitions, so this node led some of them.
                    for number in 0..<16 {
                        payments.append(try await store.buy(as: "without-\(node)-\(number)"))
                    }
                    try await store.expectWhole(payments)
                    try await store.broker.restart(node: node, keepingLog: true)
                }
            }
        }

        @Test func oneOfTwoInstancesOfEachServiceIsKilled() async throws {
            let replicas = Dictionary(
                uniqueKeysWithValues: StoreService.allCases.map { ($0, 2) }
            )
            try await withStore(.with(replicas: replicas)) { store in
                try await store.importSampleCatalog()
                var payments: [AcceptedPayment] = []
                for (number, service) in StoreService.allCases.enumerated() {
                    payments.append(try await store.buy(as: "buyer-\(number)", instance: 2))
                    await store.process(service, 1).kill()
                    payments.append(try await store.buy(as: "buyer-\(number)", instance: 2))
                }
                try await store.expectWhole(payments, instance: 2)
            }
        }

        @Test func aLongOpenDatabaseTransactionDelaysButLosesNothing() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let watcher = try EventWatcher.start(store)
                let release = Gate()
                let (begins, begun) = AsyncStream.makeStream(of: Void.self)
                // It takes a low position in the log and commits late.
                let straggler = Task {
                    try await store.withDatabase(of: .payments) { connection in
                        try connection.execute("BEGIN")
                        try connection.execute(
                            """
                            INSERT INTO outbox (event_id, type, topic, key, subject, time, data)
                            VALUES (gen_random_uuid(), 'marker.v1', 'payments.transactions',
                                'straggler', 'straggler', date_trunc('milliseconds', now()), '{}')
                            """
                        )
                        begun.finish()
                        release.waitUntilOpen()
                        try connection.execute("COMMIT")
                    }
                }
                for await _ in begins {}
                let payment = try await store.buy()
                let client = try store.client(account: "ada")
                try await client.wait(for: payment.transactionID, toBe: .purchased)
                // The event is committed but held back, because it must not overtake the straggler.
                try await store.relayHasFoundUnsettledRows(since: .wallClock())
                try await store.publishMarker(seenBy: watcher)
                #expect(watcher.sightings(of: payment.transactionID).isEmpty)
                release.open()
                try await straggler.value
                try await watcher.sighting(
                    of: EventType(rawValue: "marker.v1"),
                    about: "straggler"
                )
                try await store.expectWhole([payment])
                await watcher.stop()
            }
        }

        @Test func everythingComesAgainAndOutOfOrderAcrossAccounts() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let watcher = try EventWatcher.start(store)
                var payments: [AcceptedPayment] = []
                for number in 0..<8 {
                    payments.append(try await store.buy(as: "buyer-\(number % 4)"))
                }
                payments.append(try await store.buy(SampleCatalog.pro, as: "buyer-0"))
                try await store.expectWhole(payments)

                let all = watcher.sightings.map(\.message)
                try await store.publish(reordered(all))
                try await store.publish(all)
                // Another purchase of each account follows all the copies.
                for number in 0..<4 {
                    payments.append(try await store.buy(as: "buyer-\(number)"))
                }
                try await store.expectWhole(payments)
                let credits = try await store.client(account: "buyer-1").credits().value
                #expect(credits.balances == ["coins": 300])
                await watcher.stop()
            }
        }

        /// Returns the messages account by account, last account first.
        ///
        /// The order within an account is kept.
        private func reordered(_ messages: [KafkaMessage]) -> [KafkaMessage] {
            let byKey = Dictionary(grouping: messages) { $0.key ?? [] }
            return byKey.sorted { $1.key.lexicographicallyPrecedes($0.key) }.flatMap(\.value)
        }
    }
}

extension StoreHarness {
    /// Waits until the relay of `payments` has queried events and has found some that it must hold
    /// back.
    ///
    /// Only that query reveals a relay that is correctly idle.
    fileprivate func relayHasFoundUnsettledRows(since time: StoreTime) async throws {
        let database = URL(string: databaseURL(.payments))?.lastPathComponent ?? ""
        try await eventually("the relay to look for events") {
            // Only a superuser may read the queries of other roles.
            try await cluster.asSuperuser { connection in
                try connection.query(
                    """
                    SELECT 1 FROM pg_stat_activity
                    WHERE datname = \(database) AND query_start > \(time)
                        AND query LIKE 'WITH others AS MATERIALIZED %'
                    """
                ).isEmpty ? nil : true
            }
        }
    }

    /// Publishes an event that no service handles, and waits until the watcher has seen it and all
    /// earlier events.
    fileprivate func publishMarker(seenBy watcher: EventWatcher) async throws {
        var marker = try await eventually("an event to copy") { watcher.sightings.first }.message
        let changes = ["ce_id": EventID(time: .wallClock()).description, "ce_type": "marker.v1"]
        marker.headers = marker.headers.map { header in
            var header = header
            if let value = changes[header.name] { header.value = Array(value.utf8) }
            return header
        }
        try await publish([marker])
        try await eventually("the marker") {
            watcher.sightings.first { $0.id == changes["ce_id"] }
        }
    }

    /// Publishes messages again without changes.
    func publish(_ messages: [KafkaMessage]) async throws {
        let producer = try KafkaProducer(
            settings: kafkaSettings(clientID: "republisher"),
            logger: Logger(label: "republisher", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await producer.run() }
            _ = try await producer.send(
                messages.map { message in
                    KafkaRecord(
                        topic: message.topic,
                        key: message.key,
                        value: message.value,
                        headers: message.headers,
                        partition: message.partition
                    )
                }
            )
            group.cancelAll()
        }
    }
}
