import AsyncHTTPClient
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

/// Routes that only a sandbox has: its clock, and the decisions that parents, banks and support teams
/// make elsewhere.
///
/// They need an administrator's key, which no real shop's server holds. `devstore run` gives one, so
/// that people can see what happens next without waiting a month.
struct SandboxRoutes: Sendable {
    let store: StoreCaller
    let sessions: SessionRoutes
    /// Signs as the administrator.
    let signer: TokenSigner
    /// The administrator's name at the store.
    let administrator: String

    func add(to router: Router<BasicRequestContext>) {
        router.get("/api/sandbox/clock") { request, _ in
            _ = try sessions.session(of: request)
            return try await asAdministrator(.get(.payments, "/v1/admin/clock"))
        }
        router.post("/api/sandbox/clock/advance") { request, _ in
            _ = try sessions.session(of: request)
            return try await send("/v1/admin/clock/advance", request)
        }
        for action in ["approval", "refund", "resumption"] {
            router.post("/api/sandbox/transactions/:id/\(RouterPath(action))") { request, context in
                let id = try await ownTransaction(request, context)
                return try await send("/v1/admin/transactions/\(id)/\(action)", request)
            }
        }
    }

    /// The id of a transaction that is the buyer's own.
    private func ownTransaction(
        _ request: Request,
        _ context: BasicRequestContext
    ) async throws -> String {
        let account = try sessions.session(of: request).buyer.accountID
        guard let id = context.parameters.get("id"), RelayedRoute.isID(id) else {
            throw StorefrontProblem.notFound
        }
        struct Known: Decodable {}
        _ = try await store.value(
            of: .get(.payments, "/v1/transactions/\(id)"),
            for: account,
            as: Known.self
        )
        return id
    }

    private func send(_ path: String, _ request: Request) async throws -> Response {
        var call = StoreCall(service: .payments, method: .POST, path: path)
        for name in ["content-type", "idempotency-key", "traceparent"] {
            if let field = HTTPField.Name(name), let value = request.headers[field] {
                call.headers.add(name: name, value: value)
            }
        }
        call.body = try await request.body.collect(upTo: 4096)
        return try await asAdministrator(call)
    }

    private func asAdministrator(_ call: StoreCall) async throws -> Response {
        let token = try await signer.token(subject: administrator, at: .now)
        let answer = try await store.send(call, token: token)
        let body = try await StoreCaller.body(of: answer, from: call.service)
        let type = answer.headers.first(name: "content-type") ?? "application/json"
        return Response(
            status: HTTPResponse.Status(code: Int(answer.status.code)),
            headers: [.contentType: type],
            body: ResponseBody(byteBuffer: body)
        )
    }
}
