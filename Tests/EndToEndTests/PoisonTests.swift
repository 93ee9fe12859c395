import EventTypes
import Kafka
import Messaging
import Postgres
import Testing
import TestSupport

extension EndToEnd {
    /// A message that can never be applied stops its own account and nobody else.
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct PoisonMessages {
        @Test(arguments: [
            (StoreService.receipts, EventType.transactionPurchased),
            (.fulfillment, .receiptIssued),
        ])
        func poisonParksItsAccountAndOthersGoOn(
            _ service: StoreService,
            _ type: EventType
        ) async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let first = try await store.buy(as: "mallory")
                try await store.expectWhole([first])
                try await store.publish([try await Self.poison(of: type, after: first, in: store)])
                try await eventually("the poison to be a dead letter") {
                    try await store.deadLetters(service) == ["dead": 1] ? true : nil
                }

                let parked = try await store.buy(as: "mallory")
                let other = try await store.buy(as: "ada")
                try await store.finish([other])
                try await eventually("mallory's next purchase to be parked") {
                    (try await store.deadLetters(service)["parked"] ?? 0) >= 1 ? true : nil
                }
                // Nothing can be applied that was never an event: asked for, it fails again.
                try await store.requestRedrive(of: "mallory", in: service)
                try await eventually("the redrive to fail") {
                    try await store.redrivesRequested(in: service) == 0 ? true : nil
                }
                #expect(try await store.deadLetters(service)["dead"] == 1)

                // The operator puts the poison away and lets the account's others go.
                try await store.discardTheDead(in: service)
                try await store.requestRedrive(of: "mallory", in: service)
                try await store.expectWhole([first, parked, other])
            }
        }

        /// A copy of an event of the account, under an id of its own, with data that is no JSON.
        static func poison(
            of type: EventType,
            after payment: AcceptedPayment,
            in store: StoreHarness
        ) async throws -> KafkaMessage {
            let watcher = try EventWatcher.start(store)
            var message = try await watcher.sighting(
                of: type,
                about: payment.transactionID
            ).message
            await watcher.stop()
            message.value = Array(#"{"transaction": "no such thing"}"#.utf8)
            message.headers = message.headers.map { header in
                var header = header
                if header.name == "ce_id" {
                    header.value = Array(EventID(time: .wallClock()).description.utf8)
                }
                return header
            }
            return message
        }
    }
}

extension StoreHarness {
    /// How many dead letters of each state a service has.
    func deadLetters(_ service: StoreService) async throws -> [String: Int] {
        try await withDatabase(of: service) { connection in
            var counts: [String: Int] = [:]
            for row in try connection.query(
                "SELECT state, count(*) FROM dead_letters GROUP BY state"
            ) {
                let (state, count) = try row.decode(String.self, Int64.self)
                counts[state] = Int(count)
            }
            return counts
        }
    }

    func requestRedrive(of key: String, in service: StoreService) async throws {
        try await withDatabase(of: service) { connection in
            _ = try DeadLetters.requestRedrive(
                key: key,
                consumer: service.rawValue,
                on: connection
            )
        }
    }

    func redrivesRequested(in service: StoreService) async throws -> Int {
        try await withDatabase(of: service) { connection in
            try connection.query(
                """
                SELECT 1 FROM dead_letters
                WHERE redrive_requested_at IS NOT NULL AND state IN ('dead', 'parked')
                """
            ).count
        }
    }

    func discardTheDead(in service: StoreService) async throws {
        try await withDatabase(of: service) { connection in
            _ = try connection.execute(
                """
                UPDATE dead_letters
                SET state = 'discarded', settled_at = now(), discard_reason = 'never an event'
                WHERE state = 'dead'
                """
            )
        }
    }
}
