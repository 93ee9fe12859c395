import NIOHTTP1
import AsyncHTTPClient
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ReceiptValidation

/// Fetches receipts, verifies them, and hands them out as files.
struct ReceiptRoutes: Sendable {
    let store: StoreCaller
    let sessions: SessionRoutes
    let validator: ReceiptValidator

    func add(to router: Router<BasicRequestContext>) {
        router.get("/api/transactions/:id/receipt") { request, context in
            try jsonResponse(try await verdict(request, context))
        }
        router.get("/api/transactions/:id/receipt.jws") { request, context in
            let verdict = try await verdict(request, context)
            return Self.file(
                ByteBuffer(string: verdict.signedTransaction),
                "application/jose",
                "receipt.jws"
            )
        }
        router.get("/api/receipt.p7") { request, _ in try await appReceipt(request) }
    }

    /// The verdict on the receipt of a buyer's transaction.
    func verdict(on transactionID: String, for account: String) async throws -> ReceiptVerdict {
        struct Answer: Decodable {
            var signedTransaction: String
            var orderId: String?
        }
        let answer: Answer = try await store.value(
            of: .get(.receipts, "/v1/transactions/\(transactionID)/receipt"),
            for: account
        )
        return ReceiptVerdict(
            answer.signedTransaction,
            of: transactionID,
            orderId: answer.orderId,
            by: validator
        )
    }

    private func verdict(
        _ request: Request,
        _ context: BasicRequestContext
    ) async throws -> ReceiptVerdict {
        let session = try sessions.session(of: request)
        guard let id = context.parameters.get("id"), RelayedRoute.isID(id) else {
            throw StorefrontProblem.notFound
        }
        return try await verdict(on: id, for: session.buyer.accountID)
    }

    private func appReceipt(_ request: Request) async throws -> Response {
        let account = try sessions.session(of: request).buyer.accountID
        let call = StoreCall.get(
            .receipts,
            "/v1/receipts/app?device=00000000-0000-4000-8000-000000000000&applicationVersion=1.0"
        )
        let answer = try await store.answer(to: call, for: account)
        let body = try await StoreCaller.body(of: answer, from: .receipts)
        guard answer.status == .ok else {
            throw StorefrontProblem.refused(
                by: .receipts,
                Int(answer.status.code),
                Data(body.readableBytesView)
            )
        }
        return Self.file(body, "application/pkcs7-mime", "receipt.p7")
    }

    private static func file(_ body: ByteBuffer, _ type: String, _ name: String) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: type, .contentDisposition: "attachment; filename=\"\(name)\"",
            ],
            body: ResponseBody(byteBuffer: body)
        )
    }
}
