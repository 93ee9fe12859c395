import Foundation
import HTTPTypes
import Hummingbird
import ServiceKit
import StoreAPI
import Synchronization

/// The route `verifyReceipt`: open to everybody, as Apple's is, and so bounded.
///
/// A body is read to a limit, and of large ones only a few at once, because a receipt may have
/// megabytes. Every answer has HTTP status 200, except to what is too large or too slow.
final class VerifyReceiptRoutes: Sendable {
    /// A body of this many bytes is one of the many; it holds some 400 purchases.
    private static let smallLength = 256 * 1024
    /// How many larger bodies are in work at once.
    private static let largeMax = 8

    private let handler: VerifyReceiptHandler
    private let largeCount = Mutex(0)

    init(handler: VerifyReceiptHandler) { self.handler = handler }

    /// Adds the route.
    func add(to router: StoreRouter) {
        router.open.post("\(Routes.verifyReceipt)") { request, _ in
            try await self.verify(request)
        }
        for method in [HTTPRequest.Method.get, .put, .patch, .delete, .options] {
            router.open.on("\(Routes.verifyReceipt)", method: method) { _, _ in
                try self.response(VerifyReceiptAnswer(status: .unreadable))
            }
        }
    }

    private func verify(_ request: Request) async throws -> Response {
        // What does not say its length may be large.
        let length = request.headers[.contentLength].flatMap { Int($0) }
        guard (length ?? .max) > Self.smallLength else {
            return try await verify(request, upTo: Self.smallLength)
        }
        let isAdmitted = largeCount.withLock { count in
            guard count < Self.largeMax else { return false }
            count += 1
            return true
        }
        guard isAdmitted else {
            return try response(VerifyReceiptAnswer(status: .unavailable))
        }
        defer { largeCount.withLock { $0 -= 1 } }
        return try await verify(request, upTo: VerifyReceiptRequest.lengthMax)
    }

    private func verify(_ request: Request, upTo limit: Int) async throws -> Response {
        let body = try await collectBody(of: request, upTo: limit)
        return try response(await handler.answer(Data(body.readableBytesView)))
    }

    private func response(_ answer: VerifyReceiptAnswer) throws -> Response {
        var response = try jsonResponse(answer)
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
