import AsyncHTTPClient
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import ServiceLifecycle

/// Passes the routes of ``RelayedRoute`` on to the store.
struct RelayRoutes: Sendable {
    /// The longest body of a request; the page's own have a few hundred bytes.
    static let bodyLengthMax = 16 << 10

    let store: StoreCaller
    let sessions: SessionRoutes

    func add(to router: Router<BasicRequestContext>) {
        for route in RelayedRoute.all {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                try await relay(route, request, context)
            }
        }
    }

    private func relay(
        _ route: RelayedRoute,
        _ request: Request,
        _ context: BasicRequestContext
    ) async throws -> Response {
        let session = try sessions.session(of: request)
        var parameters: [String: String] = [:]
        for (name, value) in context.parameters { parameters[String(name)] = String(value) }
        var query: [String: String] = [:]
        for (name, value) in request.uri.queryParameters { query[String(name)] = String(value) }
        var call = StoreCall(
            service: route.service,
            method: HTTPMethod(rawValue: route.method.rawValue),
            path: try route.target(
                parameters: parameters,
                query: query,
                storefront: session.storefront
            )
        )
        for name in RelayedRoute.requestHeaders {
            if let field = HTTPField.Name(name), let value = request.headers[field] {
                call.headers.add(name: name, value: value)
            }
        }
        if route.method != .get {
            call.body = try await request.body.collect(upTo: Self.bodyLengthMax)
        }
        let answer = try await store.answer(to: call, for: session.buyer.accountID)
        return try await response(answer, from: route.service) { [sessions] in
            sessions.isGoingOn(for: request)
        }
    }

    /// The store's answer as this server's: small ones at once, streams and downloads as they come.
    private func response(
        _ answer: HTTPClientResponse,
        from service: StoreService,
        while isGoingOn: @escaping @Sendable () -> Bool
    ) async throws -> Response {
        var response = Response(status: HTTPResponse.Status(code: Int(answer.status.code)))
        for name in RelayedRoute.answerHeaders {
            if let field = HTTPField.Name(name), let value = answer.headers.first(name: name) {
                response.headers[field] = value
            }
        }
        let type = answer.headers.first(name: "content-type") ?? ""
        if type.hasPrefix("application/json") || type.hasPrefix("application/problem+json") {
            let body = try await StoreCaller.body(of: answer, from: service)
            response.body = ResponseBody(byteBuffer: body)
        } else {
            if type.hasPrefix("text/event-stream"), let field = HTTPField.Name("X-Accel-Buffering")
            {
                // An nginx in front of this server would collect events and send them late.
                response.headers[field] = "no"
            }
            let length = answer.headers.first(name: "content-length").flatMap { Int($0) }
            let chunks = answer.body.cancelOnGracefulShutdown()
            response.body = ResponseBody(contentLength: length) { writer in
                // A stream that the store breaks off breaks off here too; browsers resume it.
                for try await chunk in chunks {
                    // A stream outlives its request, but not its session.
                    guard isGoingOn() else { throw StorefrontProblem.signedOut }
                    try await writer.write(chunk)
                }
                try await writer.finish(nil)
            }
        }
        return response
    }
}
