import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import NIOFoundationEssentialsCompat
import OperatorCore
import StoreAPI
import Synchronization
import Testing

/// A stand-in for `payments`, `receipts` and `fulfillment` that knows one purchase, and notes what it
/// is asked to do.
final class StandInStore: Sendable {
    /// A request for an act.
    struct Asked: Hashable, Sendable {
        let path: String
        /// The key under which it is done once.
        let key: String?
        /// Whether it came with a token.
        let hasToken: Bool
        /// The trace that it belongs to, as a `traceparent`.
        let trace: String?
        /// The refund that is asked for; `nil` in a request for another act.
        let refund: RefundRequest?
    }

    private struct LostConnection: Error {}

    static let id = TransactionID(number: 1_000_001)

    private static let transaction = Transaction(
        id: id,
        originalID: id,
        reason: .purchase,
        version: 2,
        state: .purchased,
        accountID: AccountID(unchecked: "ada"),
        bundleID: BundleID(unchecked: "com.example.app"),
        productID: ProductID(unchecked: "com.example.coins"),
        productVersion: 1,
        productType: .consumable,
        quantity: 1,
        storefront: Storefront(unchecked: "USA"),
        price: Money(minorUnits: 99, currency: Currency(unchecked: "USD")),
        applicationUsername: nil,
        deliveryPlan: [],
        requestedAt: StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
    )

    /// The receipt of the purchase, with a title that is a script.
    private static let receipt = "e30.\(payload.replacing("=", with: "")).c2ln"
    private static let payload = Data(#"{"productId":"<b>coins</b>","environment":"Sandbox"}"#.utf8)
        .base64EncodedString()

    private let asked = Mutex<[Asked]>([])
    private let answersToLose: Mutex<Int>

    /// Makes a stand-in.
    ///
    /// - Parameter count: The number of acts that it does without an answer.
    init(losing count: Int = 0) {
        answersToLose = Mutex(count)
    }

    /// The acts that it was asked for, in order.
    var acts: [Asked] { asked.withLock { $0 } }

    /// Runs a body with the addresses of the three services.
    func run(_ body: @Sendable ([OperatedService: String]) async throws -> Void) async throws {
        let router = Router(context: BasicRequestContext.self)
        let transactions = Routes.adminTransactions
        router.get(RouterPath("\(transactions)/:id")) { _, _ in
            let answer = TransactionResponse(transaction: Self.transaction)
            return Self.answer(.ok, Data(try JSONEncoder().encode(answer)))
        }
        router.get(RouterPath("\(transactions)/:id/receipt")) { _, _ in
            let answer = ReceiptResponse(signedTransaction: Self.receipt)
            return Self.answer(.ok, Data(try JSONEncoder().encode(answer)))
        }
        router.post(RouterPath("\(transactions)/:id/:act")) { request, _ in
            try await self.act(request)
        }
        try await Application(router: router).test(.live) { http in
            let port = try #require(http.port)
            let url = "http://127.0.0.1:\(port)"
            try await body([.payments: url, .receipts: url, .fulfillment: url])
        }
    }

    private func act(_ request: Request) async throws -> Response {
        let body = try await request.body.collect(upTo: 1 << 16)
        let act = Asked(
            path: request.uri.path,
            key: HTTPField.Name("Idempotency-Key").flatMap { request.headers[$0] },
            hasToken: request.headers[.authorization]?.hasPrefix("Bearer ey") == true,
            trace: HTTPField.Name("traceparent").flatMap { request.headers[$0] },
            // Other acts have another body, or none.
            refund: try? JSONDecoder().decode(RefundRequest.self, from: Data(buffer: body))
        )
        asked.withLock { $0.append(act) }
        let isLost = answersToLose.withLock { left in
            left -= 1
            return left >= 0
        }
        // The act is done, and its answer is cut off.
        if isLost {
            return Response(status: .accepted, body: ResponseBody { _ in throw LostConnection() })
        }
        return Self.answer(.accepted, Data("{}".utf8))
    }

    /// An answer after which the connection is closed, so that the stand-in ends with its test.
    private static func answer(_ status: HTTPResponse.Status, _ json: Data) -> Response {
        Response(
            status: status,
            headers: [.contentType: "application/json", .connection: "close"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json))
        )
    }
}
