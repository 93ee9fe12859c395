import AsyncHTTPClient
import EventTypes
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import ServiceKit

/// Passes a server's finish on to `fulfillment`, which owns finishing: the same path with the same
/// token, which `fulfillment` checks by itself.
///
/// Its answer goes back as it is, so that 2xx says what it says there: the finish is on the disk.
/// When there is no answer in time nothing is known, and the server is told to ask again; a finish
/// is done once however often it is asked for.
struct FinishForwarder: Sendable {
    /// The longest answer that is passed on.
    private static let answerMax = 16 * 1024

    private let baseURL: String
    private let timeout: Duration

    /// - Parameters:
    ///   - baseURL: Where `fulfillment` is.
    ///   - timeout: How long it may take.
    init(baseURL: String, timeout: Duration) {
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        self.timeout = timeout
    }

    /// Finishes a transaction for the server whose token this is.
    ///
    /// - Parameters:
    ///   - id: The transaction.
    ///   - authorization: The header with the token, as it came.
    /// - Returns: What `fulfillment` answered.
    /// - Throws: ``ServerAPIError/generalInternalRetryable`` if it did not.
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
            throw ServerAPIError.generalInternalRetryable
        }
    }
}
