import AsyncHTTPClient
import EventTypes
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import StoreAPI

/// The condition under which an unanswered request is given up.
enum Patience: Sendable {
    /// Never.
    case endless
    /// Give up at the deadline. Time while the machine sleeps does not count.
    case until(SuspendingClock.Instant)
    /// Give up at the deadline, unless the request may have reached the store. In that case repeat
    /// it until there is an answer, because otherwise its effect would be unknown.
    case untilUnlessHeard(SuspendingClock.Instant)

    fileprivate func isOver(mayHaveArrived: Bool) -> Bool {
        switch self {
        case .endless: false
        case .until(let end): end < .now
        case .untilUnlessHeard(let end): end < .now && !mayHaveArrived
        }
    }
}

/// Sends requests to the store for the configured account.
struct StoreTransport: Sendable {
    /// A request to the store.
    struct Question: Sendable {
        var method: HTTPMethod
        var url: String
        var body: [UInt8]?
        var idempotencyKey: IdempotencyKey?
        var lastEventID: String?
        var accept: String?

        static func get(_ url: String) -> Self { Self(method: .GET, url: url) }

        static func post(_ url: String) -> Self { Self(method: .POST, url: url) }

        static func post(
            _ url: String,
            _ body: some Encodable,
            idempotencyKey: IdempotencyKey? = nil
        ) throws -> Self {
            Self(
                method: .POST,
                url: url,
                body: Array(try JSONEncoder().encode(body)),
                idempotencyKey: idempotencyKey
            )
        }

        static func put(_ url: String, _ body: some Encodable) throws -> Self {
            Self(method: .PUT, url: url, body: Array(try JSONEncoder().encode(body)))
        }

        static func delete(_ url: String) -> Self { Self(method: .DELETE, url: url) }
    }

    /// The maximum length of an answer.
    ///
    /// No answer of the store is longer.
    private static let answerLengthMax = 64 << 20

    /// NIO's own sockets and TLS on every system.
    ///
    /// On macOS, AsyncHTTPClient would otherwise use Apple's Network framework. That framework
    /// ignores ``TrustedRoots``, and its errors do not reveal whether anything was sent.
    static var sockets: HTTPClient.EventLoopGroupProvider {
        .shared(MultiThreadedEventLoopGroup.singleton)
    }

    /// The program's one HTTP client.
    ///
    /// It shares connections and lives as long as the program.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        // Tokens are sent only to the configured address.
        configuration.redirectConfiguration = .disallow
        // Retries are decided in this file.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: sockets, configuration: configuration)
    }()

    let configuration: StoreConfiguration
    let tokens: AccountTokens
    /// The TLS configuration; `nil` trusts the system's roots.
    let tls: TLSConfiguration?

    init(_ configuration: StoreConfiguration) {
        self.configuration = configuration
        tokens = AccountTokens(
            timeout: configuration.requestTimeout,
            ask: configuration.accountToken
        )
        tls = configuration.trustedRoots?.tls
    }

    /// Sends a request once.
    ///
    /// After a 401 it sends it once more with another token.
    ///
    /// - Throws: ``StoreFailure``, or `CancellationError`.
    func send<Value: Decodable & Sendable>(
        _ question: Question,
        as type: Value.Type = Value.self
    ) async throws -> Value {
        let body = try await bytes(question)
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            throw StoreFailure.unreadable("the answer of \(question.url) is not \(type)")
        }
    }

    /// Sends a request once and returns the bytes of the answer.
    ///
    /// - Throws: ``StoreFailure``, or `CancellationError`.
    func bytes(_ question: Question) async throws -> Data {
        try await ask(question) { response in
            do {
                let buffer = try await response.body.collect(upTo: Self.answerLengthMax)
                return Data(buffer.readableBytesView)
            } catch {
                try Task.checkCancellation()
                throw StoreFailure.unreachable("\(error)")
            }
        }
    }

    /// Repeats a request until there is an answer, with increasing pauses.
    ///
    /// - Parameters:
    ///   - question: The request.
    ///   - type: The type of the answer.
    ///   - patience: The condition under which to give up.
    /// - Returns: The answer.
    /// - Throws: ``StoreFailure``, or `CancellationError`.
    func sendUntilAnswered<Value: Decodable & Sendable>(
        _ question: Question,
        as type: Value.Type = Value.self,
        patience: Patience = .endless
    ) async throws -> Value {
        var failures = 0
        var mayHaveArrived = false
        while true {
            do {
                return try await send(question, as: type)
            } catch let failure as StoreFailure {
                switch failure {
                case .refused: throw failure
                case .notSent: break
                // Whoever sent this answer, the request may have reached the store.
                case .unreachable, .unreadable: mayHaveArrived = true
                }
                failures += 1
                if patience.isOver(mayHaveArrived: mayHaveArrived) { throw failure }
                try await pause(afterFailures: failures)
            }
        }
    }

    /// Waits before the next attempt.
    ///
    /// The pause grows with each failure and is random.
    func pause(afterFailures failures: Int) async throws {
        let delay = RetryDelay(base: configuration.retryBase, ceiling: configuration.retryMax)
        try await Task.sleep(for: delay.after(failures, jitter: .random(in: 0...1)))
    }

    /// Reads the queue's stream until it ends.
    ///
    /// - Parameters:
    ///   - lastEventID: The event id from which to resume; `nil` begins with everything unfinished.
    ///   - didConnect: Called with the head of the answer before any event arrives.
    ///   - didOpen: Called after the first bytes have arrived.
    ///   - receive: Called with the events of one read.
    /// - Throws: ``StoreFailure``, an error of `receive`, or `CancellationError`.
    func readQueue(
        after lastEventID: String?,
        didConnect: @Sendable (QueueStreamHead) -> Void,
        didOpen: @escaping @Sendable () -> Void,
        _ receive: @escaping @Sendable ([ServerSentEventParser.Event]) -> Void
    ) async throws {
        var question = Question.get(configuration.addresses.fulfillment + Routes.queue)
        question.lastEventID = lastEventID
        question.accept = "text/event-stream"
        // The head of the answer has a time limit. The events after it have none.
        let response = try await ask(question) { $0 }
        guard response.headers.first(name: "content-type")?.hasPrefix("text/event-stream") == true
        else { throw StoreFailure.unreadable("\(question.url) is not a stream of events") }
        didConnect(
            QueueStreamHead(
                revision: response.headers.first(name: QueueStreamHead.revisionField),
                database: response.headers.first(name: QueueStreamHead.databaseField)
            )
        )
        let watch = SilenceWatch(configuration.streamSilenceMax)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var parser = ServerSentEventParser()
                for try await bytes in response.body {
                    watch.reset()
                    didOpen()
                    let events = try parser.parse(bytes.readableBytesView)
                    if !events.isEmpty { receive(events) }
                }
            }
            group.addTask { try await watch.waitForSilence() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Sends a request with the account's token, and once more with another token if the store
    /// refuses the first.
    ///
    /// Each attempt has its own time limit, and so has each request for a token.
    ///
    /// - Parameters:
    ///   - question: The request.
    ///   - read: Reads the body of a successful answer, given its head.
    /// - Returns: The result of `read`.
    /// - Throws: ``StoreFailure``, an error of `read`, or `CancellationError`.
    private func ask<Answer: Sendable>(
        _ question: Question,
        _ read: @escaping @Sendable (HTTPClientResponse) async throws -> Answer
    ) async throws -> Answer {
        let token = try await self.token()
        do {
            return try await ask(question, by: token, read)
        } catch is Unauthorized {
            let other = try await self.token(insteadOf: token)
            do {
                return try await ask(question, by: other, read)
            } catch let refusal as Unauthorized {
                throw refusal.failure
            }
        }
    }

    /// The store refused the token.
    private struct Unauthorized: Error {
        let failure: StoreFailure
    }

    private func ask<Answer: Sendable>(
        _ question: Question,
        by token: String,
        _ read: @escaping @Sendable (HTTPClientResponse) async throws -> Answer
    ) async throws -> Answer {
        try await withTimeout(configuration.requestTimeout) {
            let response = try await execute(question, token)
            guard (200..<300).contains(response.status.code) else {
                let failure = await failure(of: response)
                throw response.status == .unauthorized ? Unauthorized(failure: failure) : failure
            }
            return try await read(response)
        }
    }

    /// Requests a new token from the program and uses it for the next requests (spec rule 69).
    ///
    /// - Throws: The ``SKError`` that the program throws, ``StoreFailure`` for any other error, or
    ///   `CancellationError`.
    func renewToken() async throws {
        do {
            _ = try await tokens.renewed()
        } catch let error as SKError {
            throw error
        } catch {
            try Task.checkCancellation()
            throw StoreFailure.notSent("the program gave no account token: \(error)")
        }
    }

    private func token(insteadOf refused: String? = nil) async throws -> String {
        do {
            return try await tokens.token(insteadOf: refused)
        } catch {
            try Task.checkCancellation()
            throw StoreFailure.notSent("the program gave no account token: \(error)")
        }
    }

    private func execute(
        _ question: Question,
        _ token: String
    ) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: question.url)
        request.tlsConfiguration = tls
        request.method = question.method
        request.headers.add(name: "authorization", value: "Bearer \(token)")
        if let key = question.idempotencyKey {
            request.headers.add(name: "idempotency-key", value: key.rawValue)
        }
        if let id = question.lastEventID {
            request.headers.add(name: "last-event-id", value: id)
        }
        if let accept = question.accept {
            request.headers.add(name: "accept", value: accept)
        }
        if let body = question.body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        do {
            return try await Self.client.execute(request, deadline: .distantFuture)
        } catch {
            try Task.checkCancellation()
            let reason = "\(question.url): \(error)"
            if Self.isNotTrusted(error) {
                throw StoreFailure.notSent(
                    "the store's certificate is not trusted (see trustedRoots): " + reason
                )
            }
            throw Self.isNotConnected(error) ? StoreFailure.notSent(reason) : .unreachable(reason)
        }
    }

    /// Whether the error means that there was no connection, so nothing can have been sent.
    private static func isNotConnected(_ error: any Error) -> Bool {
        switch error {
        case is NIOConnectionError: true
        case let error as HTTPClientError: error == .connectTimeout
        case let error as IOError:
            [ECONNREFUSED, ENETUNREACH, EHOSTUNREACH].contains(error.errnoCode)
        default: false
        }
    }

    /// Whether the error means that the server's certificate is not trusted.
    ///
    /// Nothing was sent to it.
    private static func isNotTrusted(_ error: any Error) -> Bool {
        if case NIOSSLError.handshakeFailed = error { return true }
        return (error as? NIOSSLExtraError) == .failedToValidateHostname
    }

    private func failure(of response: HTTPClientResponse) async -> StoreFailure {
        let status = Int(response.status.code)
        guard status < 500, status != 429, status != 408 else {
            return .unreachable("status \(status)")
        }
        // The status alone says that the request is refused. Without a readable body, the refusal has
        // no code.
        guard let body = try? await response.body.collect(upTo: 1 << 20),
            let problem = try? JSONDecoder().decode(
                Problem.self,
                from: Data(body.readableBytesView)
            )
        else { return .unreadable("status \(status), and no problem that says why") }
        return .refused(problem)
    }
}
