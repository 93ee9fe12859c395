import ClockAndIDs
import EventTypes
import Kafka
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// A message that can never be applied stops only its own account.
    @Suite
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
                let dead = try await eventually("the poison to be a dead letter") {
                    try await store.openLetters(of: service).first
                }
                #expect(dead.state == "dead")

                let parked = try await store.buy(as: "mallory")
                let other = try await store.buy(as: "ada")
                try await store.finish([other])
                try await eventually("mallory's next purchase to be parked") {
                    try await store.openLetters(of: service).contains { $0.state == "parked" }
                        ? true : nil
                }
                let differences = try await store.reconcile().differences
                #expect(
                    differences.contains { $0.kind == "deadLetter" && $0.subject == "mallory" }
                )
                // This was never an event, so a redrive fails again.
                let redrive = [
                    "dead-letters", "redrive", "mallory", "--service", service.rawValue,
                    "--timeout", "60",
                ]
                let refused = try await store.counterfoil(redrive)
                #expect(refused.exit == .code(1), "\(refused)")
                let open = try await store.openLetters(of: service)
                #expect(open.filter { $0.state == "dead" }.map(\.id) == [dead.id])

                // The operator discards the poison message and releases the account's other events.
                _ = try await store.operatorSays([
                    "dead-letters", "discard", service.rawValue, "\(dead.id)", "--reason",
                    "never an event",
                ])
                try await store.discardPoison(except: service)
                let released = try await store.counterfoil(redrive)
                #expect([.code(0), .code(1)].contains(released.exit), "\(released)")
                try await store.expectWhole([first, parked, other])
            }
        }

        /// Returns a copy of the account's event with its own id, which no log has.
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
            message.headers.removeAll { $0.name == "ce_position" || $0.name == "ce_previous" }
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

/// A dead letter as `counterfoil dead-letters list --json` prints it.
struct ListedLetter: Decodable {
    let service: String
    let id: Int64
    let state: String
    let key: String
}

extension StoreHarness {
    /// Returns the dead letters and parked events of a service.
    func openLetters(of service: StoreService) async throws -> [ListedLetter] {
        struct Answer: Decodable { let deadLetters: [ListedLetter] }
        return try await counterfoil("dead-letters", "list", "--json").json(Answer.self)
            .deadLetters.filter { $0.service == service.rawValue }
    }

    /// Discards the poison in the other services that read its topic: nobody can say of a message
    /// without a place for whom it is.
    func discardPoison(except service: StoreService) async throws {
        for other in [StoreService.receipts, .fulfillment, .payments] where other != service {
            for letter in try await openLetters(of: other) where letter.state == "dead" {
                _ = try await operatorSays([
                    "dead-letters", "discard", other.rawValue, "\(letter.id)", "--reason",
                    "never an event",
                ])
            }
        }
    }
}
