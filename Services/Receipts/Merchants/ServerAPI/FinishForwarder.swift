import AsyncHTTPClient
import EventTypes
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import ServiceKit

/// Passes a server's finish on to `fulfillment`, which owns finishing.
///
/// The request has the same path and the same token, which `fulfillment` checks itself.
///
/// The answer of `fulfillment` is returned unchanged, so 2xx means that the finish is durable.
/// Without an answer in time the outcome is unknown, and the answer asks the server to repeat the
/// request. A transaction is finished once, however often the request is repeated.
struct FinishForwarder: Sendable {
    /// The longest answer that is passed on.
    private static let answerMax = 16 * 1024

    private let baseURL: String
    private let timeout: Duration
    private let logger: Logger

    /// - Parameters:
    ///   - baseURL: The URL of `fulfillment`.
    ///   - timeout: The time limit for a request.
    ///   - logger: Receives the reason why a request has no answer.
    init(baseURL: String, timeout: Duration, logger: Logger) {
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        self.timeout = timeout
        self.logger = logger
    }

    /// Finishes a transaction on behalf of a merchant's server.
    ///
    /// - Parameters:
    ///   - id: The transaction.
    ///   - authorization: The header with the server's token, unchanged.
    /// - Returns: The answer of `fulfillment`.
    /// - Throws: ``ServerAPIError/generalInternalRetryable`` if it did not answer.
    func finish(_ id: TransactionID, authorization: String) async throws -> Response {
        var request = HTTPClientRequest(url: "\(baseURL)/inApps/v1/transactions/\(id)/finish")
        request.method = .POST
        request.headers.add(name: "authorization", value: authorization)
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
                "The service fulfillment has not answered a finish",
                metadata: ["transaction.id": "\(id)", "error": "\(error)"]
            )
            throw ServerAPIError.generalInternalRetryable
        }
    }
}
