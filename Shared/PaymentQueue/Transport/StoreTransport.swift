import AsyncHTTPClient
import EventTypes
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import StoreAPI

/// When a question that is not answered is given up.
enum Patience: Sendable {
    /// Never.
    case endless
    /// When the time has come. The time that the machine sleeps does not count.
    case until(SuspendingClock.Instant)
    /// When the time has come, unless the store may have heard the question: then it is asked until
    /// there is an answer, because giving up would leave it open what has happened.
    case untilUnlessHeard(SuspendingClock.Instant)

    fileprivate func isOver(mayHaveArrived: Bool) -> Bool {
        switch self {
        case .endless: false
        case .until(let end): end < .now
        case .untilUnlessHeard(let end): end < .now && !mayHaveArrived
        }
    }
}

/// Asks the store, as the configured account.
struct StoreTransport: Sendable {
    /// What is asked.
    struct Question: Sendable {
        var method: HTTPMethod
        var url: String
        var body: [UInt8]?
        var idempotencyKey: String?
        var lastEventID: String?
        var accept: String?

        static func get(_ url: String) -> Self { Self(method: .GET, url: url) }

        static func post(_ url: String) -> Self { Self(method: .POST, url: url) }

        static func post(
            _ url: String,
            _ body: some Encodable,
            idempotencyKey: String? = nil
        ) throws -> Self {
            Self(
                method: .POST,
                url: url,
                body: Array(try JSONEncoder().encode(body)),
                idempotencyKey: idempotencyKey
            )
        }

        static func delete(_ url: String) -> Self { Self(method: .DELETE, url: url) }
    }

    /// More than any answer of the store holds.
    private static let answerLengthMax = 64 << 20

    /// NIO's own sockets and TLS, on every system.
    ///
    /// Without it AsyncHTTPClient takes Apple's Network framework on macOS, which ignores
    /// ``TrustedRoots`` and whose errors do not tell whether anything was sent.
    static var sockets: HTTPClient.EventLoopGroupProvider {
        .shared(MultiThreadedEventLoopGroup.singleton)
    }

    /// One for the program, for as long as it runs: its connections are shared.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        // A token goes to nobody but the address that was configured.
        configuration.redirectConfiguration = .disallow
        // Whether and when to try again is decided here.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: sockets, configuration: configuration)
    }()

    let configuration: StoreConfiguration
    let tokens: AccountTokens
    /// What is trusted; `nil` for what the system trusts.
    let tls: TLSConfiguration?

    init(_ configuration: StoreConfiguration) {
        self.configuration = configuration
        tokens = AccountTokens(
            timeout: configuration.requestTimeout,
            ask: configuration.accountToken
        )
        tls = configuration.trustedRoots?.tls
    }

    /// Asks once; with another token once more after a 401.
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

    /// Asks once for bytes.
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

    /// Asks until there is an answer, with longer and longer pauses.
    ///
    /// - Parameters:
    ///   - question: What is asked.
    ///   - type: What the answer is.
    ///   - patience: When to give up.
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
                // Whoever it was that answered in this way, the store may have heard.
                case .unreachable, .unreadable: mayHaveArrived = true
                }
                failures += 1
                if patience.isOver(mayHaveArrived: mayHaveArrived) { throw failure }
                try await pause(afterFailures: failures)
            }
        }
    }

    /// Waits before the next try: longer each time, and not as long as everybody else.
    func pause(afterFailures failures: Int) async throws {
        let factor = 1 << min(failures - 1, 16)
        let longest = min(configuration.retryBase * factor, configuration.retryMax)
        try await Task.sleep(for: longest * Double.random(in: 0.5...1))
    }

    /// Reads the queue's stream until it ends.
    ///
    /// - Parameters:
    ///   - lastEventID: Where to resume; `nil` begins with everything unfinished.
    ///   - didConnect: Told what the store says of the queue, before anything of it has come.
    ///   - didOpen: Called when something has come.
    ///   - receive: Takes what came with one read.
    /// - Throws: ``StoreFailure``, what reading throws, or `CancellationError`.
    func readQueue(
        after lastEventID: String?,
        didConnect: @Sendable (QueueStreamHead) -> Void,
        didOpen: @escaping @Sendable () -> Void,
        _ receive: @escaping @Sendable ([ServerSentEventParser.Event]) -> Void
    ) async throws {
        var question = Question.get(configuration.addresses.fulfillment + Routes.queue)
        question.lastEventID = lastEventID
        question.accept = "text/event-stream"
        // The answer's head is due soon; what follows it comes when it comes.
        let response = try await ask(question) { $0 }
        guard response.headers.first(name: "content-type")?.hasPrefix("text/event-stream") == true
        else { throw StoreFailure.unreadable("\(question.url) is no stream of events") }
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

    /// Asks with the account's token, and once more with another one where the store refuses it.
    ///
    /// Each try has the time of a request; so has the program each time it is asked for a token.
    ///
    /// - Parameters:
    ///   - question: What is asked.
    ///   - read: Takes the head of an answer that is not a failure, and its body to be read.
    /// - Returns: What was read.
    /// - Throws: ``StoreFailure``, what reading throws, or `CancellationError`.
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

    /// The store does not take the token.
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

    /// Asks the program for a token of now, which the next requests are sent with (spec rule 69).
    ///
    /// - Throws: The ``SKError`` that the program throws, ``StoreFailure`` for anything else it throws,
    ///   or `CancellationError`.
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
            request.headers.add(name: "idempotency-key", value: key)
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

    /// Whether there was no connection that anything could have been sent on.
    private static func isNotConnected(_ error: any Error) -> Bool {
        switch error {
        case is NIOConnectionError: true
        case let error as HTTPClientError: error == .connectTimeout
        case let error as IOError:
            [ECONNREFUSED, ENETUNREACH, EHOSTUNREACH].contains(error.errnoCode)
        default: false
        }
    }

    /// Whether whoever answers is not known to be the store; nothing is said to them.
    private static func isNotTrusted(_ error: any Error) -> Bool {
        if case NIOSSLError.handshakeFailed = error { return true }
        return (error as? NIOSSLExtraError) == .failedToValidateHostname
    }

    private func failure(of response: HTTPClientResponse) async -> StoreFailure {
        let status = Int(response.status.code)
        guard status < 500, status != 429, status != 408 else {
            return .unreachable("status \(status)")
        }
        guard let body = try? await response.body.collect(upTo: 1 << 20),
            let problem = try? JSONDecoder().decode(
                Problem.self,
                from: Data(body.readableBytesView)
            )
        else { return .unreadable("status \(status), and no problem that says why") }
        return .refused(problem)
    }
}
