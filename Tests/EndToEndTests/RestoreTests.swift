import EventTypes
import Foundation
import NIOHTTP1
import PaymentQueue
import StoreAPI
import Synchronization
import Testing
import TestSupport

extension EndToEnd {
    /// Who may restore (spec rule 69).
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct Restores {
        @Test func restoringNeedsAFreshTokenAndNothingElseDoes() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let pro = try await store.buy(SampleCatalog.pro)
                try await store.expectWhole([pro])
                let client = try store.client(account: "ada")
                let old = StoreClient(
                    account: client.account,
                    urls: store.urls,
                    token: try store.keys.token(account: client.account, age: .seconds(600))
                )
                let before = try await store.contents(of: .payments)
                let refused = try await old.restore(key: "r")
                #expect(refused.status == 401)
                #expect(refused.problem?.code == "fresh_authentication_required")
                #expect(refused.problem?.detail.contains("sign a new token") == true)
                #expect(try await store.contents(of: .payments) == before)
                #expect(try await old.storeAccount().status == 200)
                // The key was not used up.
                let restored = try await client.restore(key: "r").value.transactions
                #expect(restored.map(\.originalID) == [pro.transactionID])
                // Nor is what was restored told to an old token.
                #expect(try await old.restore(key: "r").status == 401)
            }
        }

        /// Which tokens the program has been asked for: with the one that was refused, or none.
        private final class Tokens: Sendable {
            let asked = Mutex<[String?]>([])
        }

        @Test func theAppIsAskedForANewTokenBeforeARestore() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let ada = AccountID(unchecked: "ada")
                let old = try store.keys.token(account: ada, age: .seconds(600))
                let new = try store.keys.token(account: ada, age: .zero)
                let tokens = Tokens()
                var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
                // An app that keeps its token until the store refuses it.
                configuration.accountToken = { refused in
                    tokens.asked.withLock { $0.append(refused) }
                    return refused == nil ? old : new
                }
                SKPaymentQueue.configure(configuration)
                let queue = SKPaymentQueue.default()
                _ = try await queue.products(for: [SampleCatalog.pro.rawValue])
                #expect(tokens.asked.withLock { $0 } == [nil])
                let observer = RecordingObserver()
                queue.add(observer)
                queue.restoreCompletedTransactions()
                try await observer.restored(1)
                #expect(tokens.asked.withLock { $0 } == [nil, nil, old])

                // An app whose buyer does not say who they are.
                configuration.accountToken = { _ in throw SKError(.paymentCancelled) }
                SKPaymentQueue.configure(configuration)
                let other = SKPaymentQueue.default()
                other.add(observer)
                other.restoreCompletedTransactions()
                try await eventually("the restore to fail") {
                    observer.failedRestores.isEmpty ? nil : true
                }
                #expect((observer.failedRestores.first as? SKError)?.code == .paymentCancelled)
                other.remove(observer)
            }
        }
    }
}
