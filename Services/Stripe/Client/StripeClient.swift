import AsyncHTTPClient
import Foundation
package import Logging
import NIOCore
import NIOHTTP1

/// Calls Stripe's API.
///
/// It repeats nothing: whether and when a call is made again is decided by those who know what it
/// was for. Every failure is a ``StripeFailure``, whose kind says what is to be done.
package struct StripeClient: Sendable {
    /// The version of the API whose answers this client reads.
    package static let version = "2026-10-28.endive"
    /// The longest answer that is read.
    ///
    /// A full page of a list takes less than half of it.
    private static let bodyMax = 1024 * 1024

    /// The address of the API, and the limits of a call.
    package struct Settings: Sendable {
        /// The address, without a slash at its end.
        package var baseURL: String
        /// The time limit for a connection.
        package var connectTimeout: Duration
        /// The time limit for a call, from its begin to the last byte of the answer.
        ///
        /// An attempt's lease must be longer.
        package var timeout: Duration
        /// The number of connections.
        package var connectionsMax: Int

        /// Makes settings.
        package init(
            baseURL: String = "https://api.stripe.com",
            connectTimeout: Duration = .seconds(5),
            timeout: Duration = .seconds(30),
            connectionsMax: Int = 16
        ) {
            self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
            self.connectTimeout = connectTimeout
            self.timeout = timeout
            self.connectionsMax = connectionsMax
        }
    }

    private let settings: Settings
    private let key: @Sendable () -> StripeKey
    private let http: HTTPClient
    private let logger: Logger

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - settings: The address and the limits.
    ///   - logger: Receives a line at debug level for each call, with codes and ids only.
    ///   - key: Returns the key that is in use now.
    package init(
        _ settings: Settings = Settings(),
        logger: Logger,
        key: @escaping @Sendable () -> StripeKey
    ) {
        self.settings = settings
        self.logger = logger
        self.key = key
        var configuration = HTTPClient.Configuration()
        // The store's own code records spans of calls.
        configuration.tracing.tracer = nil
        // A redirect would send the key to an address that is not configured.
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        configuration.timeout.connect = Self.amount(settings.connectTimeout)
        configuration.timeout.read = Self.amount(settings.timeout)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
            settings.connectionsMax
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Closes all connections.
    package func shutDown() async {
        // No more calls are made. The system closes a connection that does not close by itself.
        try? await http.shutdown()
    }

    /// Makes a call and reads the object of its answer.
    func send<Answer: Decodable>(
        _ call: StripeCall,
        as type: Answer.Type = Answer.self
    ) async throws(StripeFailure) -> Answer {
        let (head, body) = try await answer(to: call)
        if let failure = AnswerRules.failure(head, Self.error(in: body)) {
            log(call, head, failure)
            throw failure
        }
        do {
            let object = try JSONDecoder().decode(Answer.self, from: body)
            log(call, head, nil)
            return object
        } catch {
            // Stripe has done it, and nobody knows what: an inquiry finds out.
            let failure = StripeFailure(.unknown, status: head.status, requestID: head.requestID)
            log(call, head, failure)
            throw failure
        }
    }

    private func answer(
        to call: StripeCall
    ) async throws(StripeFailure) -> (AnswerRules.Head, Data) {
        do {
            return try await inTime(request(for: call))
        } catch {
            // The request may have arrived even if the connection could not be told to be good:
            // nothing is known, whatever the error is.
            logger.debug(
                "A call to Stripe has no answer",
                metadata: [
                    "stripe.path": "\(call.path)", "error.type": "\(Swift.type(of: error))",
                    "stripe.key": "\(call.key.map { "\($0)" } ?? "")",
                ]
            )
            throw StripeFailure(.unknown)
        }
    }

    /// Makes a request and reads its answer, both within one limit.
    ///
    /// The HTTP client's deadline ends with the head of the answer. A body that comes in drops
    /// would outlive the attempt's lease, so the whole call runs against a clock.
    private func inTime(_ request: HTTPClientRequest) async throws -> (AnswerRules.Head, Data) {
        try await withThrowingTaskGroup(of: (AnswerRules.Head, Data).self) { group in
            // Whichever ends second is cancelled; an unread answer closes its connection.
            defer { group.cancelAll() }
            group.addTask {
                let deadline = NIODeadline.now() + Self.amount(settings.timeout)
                let response = try await http.execute(request, deadline: deadline)
                let body = try await response.body.collect(upTo: Self.bodyMax)
                return (Self.head(of: response), Data(body.readableBytesView))
            }
            group.addTask {
                try await Task.sleep(for: settings.timeout)
                throw CallTakesTooLong()
            }
            guard let first = try await group.next() else { throw CallTakesTooLong() }
            return first
        }
    }

    /// The end of a call's time.
    private struct CallTakesTooLong: Error {}

    private func request(for call: StripeCall) -> HTTPClientRequest {
        let encoded = call.parameters.encoded
        let isPost = call.method == .POST
        let query = isPost || encoded.isEmpty ? "" : "?\(encoded)"
        var request = HTTPClientRequest(url: settings.baseURL + call.path + query)
        request.method = call.method
        request.headers.add(name: "authorization", value: "Bearer \(key().secret.text)")
        request.headers.add(name: "stripe-version", value: Self.version)
        request.headers.add(name: "accept", value: "application/json")
        if let key = call.key { request.headers.add(name: "idempotency-key", value: "\(key)") }
        if isPost {
            request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(Array(encoded.utf8))
        }
        return request
    }

    private static func head(of response: HTTPClientResponse) -> AnswerRules.Head {
        let headers = response.headers
        return AnswerRules.Head(
            status: Int(response.status.code),
            requestID: headers.first(name: "request-id"),
            shouldRetry: headers.first(name: "stripe-should-retry").flatMap { Bool($0) },
            retryAfter: headers.first(name: "retry-after").flatMap { Int64($0) }
                .map { .seconds(min(max($0, 0), 60)) },
            isReplayed: headers.first(name: "idempotent-replayed") == "true"
        )
    }

    private struct Failed: Decodable {
        let error: StripeErrorBody
    }

    private static func error(in body: Data) -> StripeErrorBody? {
        // A proxy's answer has no error of Stripe's in it.
        try? JSONDecoder().decode(Failed.self, from: body).error
    }

    private func log(_ call: StripeCall, _ head: AnswerRules.Head, _ failure: StripeFailure?) {
        logger.debug(
            "Stripe has answered",
            metadata: [
                "stripe.path": "\(call.path)", "stripe.status": "\(head.status)",
                "stripe.request": "\(head.requestID ?? "")",
                "stripe.key": "\(call.key.map { "\($0)" } ?? "")",
                "stripe.failure": "\(failure.map { "\($0)" } ?? "")",
            ]
        )
    }

    private static func amount(_ duration: Duration) -> TimeAmount {
        .nanoseconds(Int64(duration / .nanoseconds(1)))
    }
}
