import AsyncHTTPClient
import Foundation
import Hummingbird
import NIOCore
import NIOHTTP1

/// Tells a buyer on which page the bank waits for them, as with 3-D Secure.
///
/// The page asks again and again while a payment is on its way, and mostly there is nothing to do. That
/// is no failure, so the answer is then 204 and not the store's 404.
struct ActionRoutes: Sendable {
    let store: StoreCaller
    let sessions: SessionRoutes

    func add(to router: Router<BasicRequestContext>) {
        // What a subscription owes is in no queue before it is paid.
        for kind in ["transactions", "subscriptions"] {
            router.get("/api/\(kind)/:id/action") { request, context in
                let account = try sessions.session(of: request).buyer.accountID
                guard let id = context.parameters.get("id"), RelayedRoute.isID(id) else {
                    throw StorefrontProblem.notFound
                }
                return try await action(at: "/v1/\(kind)/\(id)/action", for: account)
            }
        }
    }

    private func action(at path: String, for account: String) async throws -> Response {
        let call = StoreCall.get(.payments, path)
        let answer = try await store.answer(to: call, for: account)
        let body = try await StoreCaller.body(of: answer, from: .payments)
        guard answer.status != .ok else {
            return Response(
                status: .ok,
                headers: [.contentType: "application/json"],
                body: ResponseBody(byteBuffer: body)
            )
        }
        let problem = StorefrontProblem.refused(
            by: .payments,
            Int(answer.status.code),
            Data(body.readableBytesView)
        )
        guard problem.code == "no_action_needed" else { throw problem }
        return Response(status: .noContent)
    }
}
