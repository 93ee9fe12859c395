import EventTypes
import Foundation
import PaymentQueue
import StoreAPI
import TestSupport
import Testing

extension EndToEnd.PaymentQueues {
    /// Requests for all products on sale, without identifiers (spec rule 98).
    @Suite(.serialized)
    struct ProductLists {
        private final class Delegate: SKProductsRequestDelegate, Sendable {
            let answers: AsyncStream<[String]>
            private let continuation: AsyncStream<[String]>.Continuation

            init() { (answers, continuation) = AsyncStream.makeStream() }

            func productsRequest(
                _ request: SKProductsRequest,
                didReceive response: SKProductsResponse
            ) {
                continuation.yield(response.products.map(\.productIdentifier))
                continuation.finish()
            }

            func request(_ request: SKRequest, didFailWithError error: any Error) {
                continuation.finish()
            }
        }

        @Test func itListsEverythingOnSale() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                SKPaymentQueue.configure(try EndToEnd.PaymentQueues.configuration(of: store))
                let export = try await store.counterfoil("products", "export").output
                let document = try JSONDecoder().decode(
                    CatalogDocument.self,
                    from: Data(export.utf8)
                )
                let usa = Storefront(unchecked: "USA")
                let expected = document.products
                    .filter { $0.value.isOnSale != false && $0.value.prices[usa] != nil }
                    .map(\.key.rawValue).sorted()
                #expect(!expected.isEmpty && expected.count < document.products.count)
                let listed = try await SKPaymentQueue.default().productsOnSale()
                #expect(listed.map(\.productIdentifier) == expected)
                let named = try await SKPaymentQueue.default().products(for: expected).products
                #expect(listed.map(\.price) == named.map(\.price))
                let delegate = Delegate()
                let request = SKProductsRequest.everythingOnSale()
                request.delegate = delegate
                request.start()
                var answers = delegate.answers.makeAsyncIterator()
                #expect(await answers.next() == expected)
            }
        }
    }
}
