import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// The permission to restore, and the products that an account owns afterwards (spec rules 62
    /// to 72).
    @Suite
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
                let before = try await store.records()
                let refused = try await old.restore(key: "r")
                #expect(refused.status == 401)
                #expect(refused.problem?.code == "fresh_authentication_required")
                #expect(refused.problem?.detail.contains("sign a new token") == true)
                #expect(try await store.records() == before)
                #expect(try await old.storeAccount().status == 200)
                // The key was not used up.
                let restored = try await client.restore(key: "r").value.transactions
                #expect(restored.map(\.originalID) == [pro.transactionID])
                // An old token cannot read the restored transactions either.
                #expect(try await old.restore(key: "r").status == 401)
            }
        }

        /// An owned product, with the purchase that granted it.
        private struct Owned: Hashable {
            let product: ProductID
            let original: TransactionID
        }

        private func owned(_ client: StoreClient) async throws -> [Owned] {
            try await client.entitlements().value.entitlements
                .filter { $0.revokedAt == nil }
                .map { Owned(product: $0.productID, original: $0.originalTransactionID) }
        }

        /// Returns the transactions with which an app unlocks products when it starts.
        private func unlocking(_ client: StoreClient) async throws -> [TransactionID] {
            let response = try await client.raw(
                .GET,
                client.urls.fulfillment + Routes.entitlementTransactions
            )
            return try response.decode(HistoryResponse.self).transactions
                .map(\.transaction.id).sorted()
        }

        /// Restores purchases and finishes the restored transactions, like a device.
        private func restore(_ client: StoreClient) async throws -> [EventTypes.Transaction] {
            let restored = try await client.restore().value.transactions
            for transaction in restored { try await client.finishUntilDone(transaction.id) }
            return restored
        }

        @Test func whatAnAccountOwnsIsTheSamePurchasesAfterAnyNumberOfRestores() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let season = ProductID(unchecked: "com.example.season.2026")
                try await store.waitUntilSellable(season)
                let first = try store.client(account: "ada")
                let pro = try await store.buy(SampleCatalog.pro)
                let coins = try await store.buy()
                var request = PaymentRequest.sample(season)
                request.price = SampleCatalog.usd(1999)
                let ticket = AcceptedPayment(
                    transactionID: try await first.add(request).value.transaction.id,
                    account: first.account
                )
                try await store.expectWhole([pro, coins, ticket])
                let bought = try await first.transaction(pro.transactionID).value.transaction
                let entitlements = try await first.entitlements().value
                let expected = [
                    Owned(product: SampleCatalog.pro, original: pro.transactionID),
                    Owned(product: season, original: ticket.transactionID),
                ]
                #expect(Set(try await owned(first)) == Set(expected))
                let unlocked = [pro.transactionID, ticket.transactionID].sorted()
                #expect(try await unlocking(first) == unlocked)
                let credits = try await first.credits().value

                // Restore twice on this device, and on a device without purchases.
                let second = try store.client(account: "ada")
                var ids: Set<TransactionID> = []
                for client in [first, first, second] {
                    let restored = try await restore(client)
                    #expect(restored.map(\.originalID) == [pro.transactionID])
                    let copy = try #require(restored.first)
                    #expect(copy.state == .restored && copy.price.isZero)
                    #expect(copy.productID == SampleCatalog.pro && copy.id != copy.originalID)
                    #expect(copy.originalPurchasedAt == bought.purchasedAt)
                    ids.insert(copy.id)
                    #expect(try await client.entitlements().value == entitlements)
                    #expect(try await unlocking(client) == unlocked)
                    #expect(try await client.credits().value == credits)
                }
                #expect(ids.count == 3, "Each restore makes a transaction of its own.")
                #expect(try await first.unfinished().value.transactions.isEmpty)
            }
        }

        @Test func aRefundTakesWhatWasRestoredAndARepurchaseIsAnotherPurchase() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let client = try store.client(account: "ada")
                let first = try await store.buy(SampleCatalog.pro)
                try await store.expectWhole([first])
                // One copy is finished, and the other is still in the queue at the time of the
                // refund.
                #expect(try await restore(client).count == 1)
                let waiting = try #require(try await client.restore().value.transactions.first)
                _ = try await store.administrator.refund(first.transactionID)
                try await eventually("the refund to take the product back") {
                    try await owned(client).isEmpty ? true : nil
                }
                // A late finish or another restore does not grant it again.
                try await client.finishUntilDone(waiting.id)
                #expect(try await client.restore().value.transactions.isEmpty)
                #expect(try await owned(client).isEmpty)
                #expect(try await unlocking(client).isEmpty)

                let again = try await store.buy(SampleCatalog.pro)
                try await client.wait(for: again.transactionID, toBe: .purchased)
                let bought = try await client.transaction(again.transactionID).value.transaction
                #expect(bought.price == SampleCatalog.usd(499), "It is charged again.")
                #expect(bought.originalID == again.transactionID)
                try await client.finishUntilDone(again.transactionID)
                let owns = Owned(product: SampleCatalog.pro, original: again.transactionID)
                #expect(try await owned(client) == [owns])
                let restored = try await eventually("payments to know of the finish") {
                    let restored = try await restore(client)
                    return restored.isEmpty ? nil : restored
                }
                #expect(restored.map(\.originalID) == [again.transactionID])
                #expect(try await owned(client) == [owns])
                #expect(try await unlocking(client) == [again.transactionID])
                // The revoked product stays in the records as revoked.
                let history = try await client.entitlements().value.entitlements
                #expect(
                    history.map(\.originalTransactionID) == [first, again].map(\.transactionID)
                )
                #expect(history.first?.revokedAt != nil)
            }
        }
    }
}
