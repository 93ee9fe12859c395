import EventTypes
import PaymentQueue
import StoreAPI
import TestSupport
import Testing

extension EndToEnd.PaymentQueues {
    /// A family in the client library of a member who buys nothing.
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct FamilyQueues {
        @Test func theAppHearsOfAShareAndOfItsEnd() async throws {
            try await withStore { store in
                try await store.sellShareablePro()
                let family = try await store.makeFamily("ada", "ben")
                SKPaymentQueue.configure(
                    try EndToEnd.PaymentQueues.configuration(of: store, as: "ben")
                )
                let queue = SKPaymentQueue.default()
                let recorder = RecordingObserver()
                queue.add(recorder)
                _ = try await store.buy(SampleCatalog.pro, as: "ada")
                let shared = try await recorder.first(.purchased)
                #expect(shared.payment.productIdentifier == SampleCatalog.pro.rawValue)
                try await queue.finish(shared)

                _ = try await store.family("end", family.id.rawValue)
                try await recorder.revoked(SampleCatalog.pro.rawValue)
                queue.remove(recorder)
            }
        }

        @Test func aMemberLeavesInTheAppAndTheOrganizerCannot() async throws {
            try await withStore { store in
                try await store.sellShareablePro()
                // A family of two would end when one of them leaves.
                _ = try await store.makeFamily("ada", "ben", "cleo")
                SKPaymentQueue.configure(
                    try EndToEnd.PaymentQueues.configuration(of: store, as: "ben")
                )
                let queue = SKPaymentQueue.default()
                let recorder = RecordingObserver()
                queue.add(recorder)
                _ = try await store.buy(SampleCatalog.pro, as: "ada")
                try await queue.finish(try await recorder.first(.purchased))
                // An account without a family has left already.
                for _ in 1...2 { try await queue.leaveFamily() }
                try await recorder.revoked(SampleCatalog.pro.rawValue)
                queue.remove(recorder)

                SKPaymentQueue.configure(
                    try EndToEnd.PaymentQueues.configuration(of: store, as: "ada")
                )
                let refusal = await #expect(throws: SKError.self) {
                    try await SKPaymentQueue.default().leaveFamily()
                }
                #expect(refusal?.storeCode == "family_organizer_stays")
            }
        }
    }
}
