import Foundation
import PaymentQueue

/// Fetches products with a delegate, as in the original API.
///
/// One task uses it, and the callbacks of the single request that the task awaits.
final class ProductFetch: NSObject, SKProductsRequestDelegate, @unchecked Sendable {  // One task.
    /// The products that this app sells.
    static let identifiers = [
        "com.example.coins.100", "com.example.hint", "com.example.pro", "com.example.club.monthly",
        "com.example.club.gold.monthly", "com.example.discontinued",
    ]

    // The app must retain the request until it is answered.
    private var request: SKProductsRequest?
    private var waiting: CheckedContinuation<SKProductsResponse, any Error>?

    /// Asks the store for products.
    func run(_ identifiers: [String]) async throws -> SKProductsResponse {
        try await withCheckedThrowingContinuation { continuation in
            waiting = continuation
            let request = SKProductsRequest(productIdentifiers: Set(identifiers))
            request.delegate = self
            self.request = request
            request.start()
        }
    }

    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse) {
        waiting?.resume(returning: response)
        waiting = nil
    }

    func request(_ request: SKRequest, didFailWithError error: any Error) {
        waiting?.resume(throwing: error)
        waiting = nil
    }
}

/// Refreshes the receipt with a delegate, as in the original API.
///
/// One task uses it, and the callbacks of the single request that the task awaits.
final class ReceiptRefresh: NSObject, SKRequestDelegate, @unchecked Sendable {  // One task.
    private let refresh = SKReceiptRefreshRequest()
    private var waiting: CheckedContinuation<Void, any Error>?

    func run() async throws {
        try await withCheckedThrowingContinuation { continuation in
            waiting = continuation
            refresh.delegate = self
            refresh.start()
        }
    }

    func requestDidFinish(_ request: SKRequest) {
        waiting?.resume()
        waiting = nil
    }

    func request(_ request: SKRequest, didFailWithError error: any Error) {
        waiting?.resume(throwing: error)
        waiting = nil
    }
}

extension SKProduct {
    /// The price of the product in its storefront's currency.
    var regularPrice: String? {
        let formatter = NumberFormatter()
        formatter.numberStyle = .currency
        formatter.locale = self.priceLocale
        return formatter.string(from: self.price)
    }
}
