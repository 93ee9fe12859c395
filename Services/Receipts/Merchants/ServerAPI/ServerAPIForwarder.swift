import AsyncHTTPClient
import EventTypes
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import ServiceKit
import StoreTracing

/// Passes a server's request on to the service that owns what it changes.
///
/// `fulfillment` finishes transactions, and `payments` extends subscriptions. The request has the same
/// path, body and token, which that service checks itself.
///
/// The answer is returned unchanged, so 2xx means that the change is durable. Without an answer in
/// time the outcome is unknown, and the answer asks the server to repeat the request. A transaction
/// is finished once, and an identifier extends once, however often the request is repeated.
struct ServerAPIForwarder: Sendable {
    /// The longest answer that is passed on.
    private static let answerMax = 16 * 1024

    private let service: ServiceName
    private let baseURL: String
    private let timeout: Duration
    private let logger: Logger

    /// - Parameters:
    ///   - service: The service that answers.
    ///   - baseURL: The URL of the service.
    ///   - timeout: The time limit for a request.
    ///   - logger: Receives the reason why a request has no answer.
    init(to service: ServiceName, baseURL: String, timeout: Duration, logger: Logger) {
        self.service = service
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        self.timeout = timeout
        self.logger = logger
    }

    /// Passes a request on.
    ///
    /// - Parameters:
    ///   - original: The request, whose token the middleware has verified.
    ///   - trace: The trace of the request.
    /// - Returns: The answer of the service.
    /// - Throws: ``ServerAPIError/generalInternalRetryable`` if it did not answer, or an error of the body.
    func pass(_ original: Request, within trace: TraceContext) async throws -> Response {
        var request = HTTPClientRequest(url: baseURL + original.uri.path)
        request.method = HTTPMethod(rawValue: original.method.rawValue)
        request.headers.add(name: "authorization", value: original.headers[.authorization] ?? "")
        request.headers.add(name: "traceparent", value: "\(trace)")
        let body = try await collectBody(of: original)
        if body.readableBytes > 0 { request.body = .bytes(body) }
        do {
            let answer = try await HTTPClient.shared.execute(
                request,
                timeout: .nanoseconds(timeout.milliseconds * 1_000_000)
            )
            let body = try await answer.body.collect(upTo: Self.answerMax)
            var headers = HTTPFields()
            for name in [HTTPField.Name.contentType, .retryAfter] {
                headers[name] = answer.headers.first(name: name.rawName)
            }
            return Response(
                status: .init(code: Int(answer.status.code)),
                headers: headers,
                body: ResponseBody(byteBuffer: body)
            )
        } catch {
            try Task.checkCancellation()
            logger.warning(
                "A service has not answered a request of a merchant's server",
                metadata: [
                    "service": "\(service)", "http.path": "\(shortened(original.uri.path))",
                    "error": "\(error)",
                ]
            )
            throw ServerAPIError.generalInternalRetryable
        }
    }
}
