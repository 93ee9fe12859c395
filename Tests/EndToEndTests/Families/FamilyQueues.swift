import EventTypes
import PaymentQueue
import StoreAPI
import TestSupport
import Testing

extension EndToEnd.PaymentQueues {
    /// A family in the client library of a member who buys nothing.
    @Suite(.serialized)
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

        @Test func aMemberRestoresTheSubscriptionThatTheFamilyShares() async throws {
            try await withStore { store in
                try await store.sellShareableClub()
                _ = try await store.makeFamily("ada", "ben")
                SKPaymentQueue.configure(
                    try EndToEnd.PaymentQueues.configuration(of: store, as: "ben")
                )
                let queue = SKPaymentQueue.default()
                let recorder = RecordingObserver()
                queue.add(recorder)
                _ = try await store.buy(SampleCatalog.club, as: "ada")
                let shared = try await recorder.first(.purchased)
                try await recorder.delivered(shared)
                try await queue.finish(shared)
                try await eventually("payments to know of the finish") {
                    try await store.client(account: "ben").restore().value.transactions.isEmpty
                        ? nil : true
                }
                queue.restoreCompletedTransactions()
                try await recorder.restored(1)
                let restored = try await recorder.first(.restored)
                #expect(restored.original?.transactionIdentifier == shared.transactionIdentifier)
                #expect(restored.payment.productIdentifier == SampleCatalog.club.rawValue)
                // What the member owns is the share, and not its copies.
                let owned = try await SKPaymentTransaction.currentEntitlements.reduce(into: []) {
                    $0.append($1.transactionIdentifier)
                }
                #expect(owned == [shared.transactionIdentifier])
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
