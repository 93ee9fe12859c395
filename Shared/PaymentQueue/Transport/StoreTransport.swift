import AsyncHTTPClient
import EventTypes
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
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

    /// One for the program, for as long as it runs: its connections are shared.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        // A token goes to nobody but the address that was configured.
        configuration.redirectConfiguration = .disallow
        // Whether and when to try again is decided here.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    let configuration: StoreConfiguration
    let tokens: AccountTokens

    init(_ configuration: StoreConfiguration) {
        self.configuration = configuration
        tokens = AccountTokens(ask: configuration.accountToken)
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
        try await withTimeout(configuration.requestTimeout) {
            let response = try await open(question)
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
    ///   - didOpen: Called when something has come.
    ///   - receive: Takes what came with one read.
    /// - Throws: ``StoreFailure``, what reading throws, or `CancellationError`.
    func readQueue(
        after lastEventID: String?,
        didOpen: @escaping @Sendable () -> Void,
        _ receive: @escaping @Sendable ([ServerSentEventParser.Event]) -> Void
    ) async throws {
        var question = Question.get(configuration.addresses.fulfillment + Routes.queue)
        question.lastEventID = lastEventID
        // The answer's head is due soon; what follows it comes when it comes.
        let response = try await withTimeout(configuration.requestTimeout) { [question] in
            try await open(question)
        }
        guard response.headers.first(name: "content-type")?.hasPrefix("text/event-stream") == true
        else { throw StoreFailure.unreadable("\(question.url) is no stream of events") }
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

    /// Sends a request and waits for the head of an answer that is not a failure.
    private func open(_ question: Question) async throws -> HTTPClientResponse {
        let token = try await self.token()
        var response = try await execute(question, token)
        if response.status == .unauthorized {
            response = try await execute(question, try await self.token(insteadOf: token))
        }
        guard (200..<300).contains(response.status.code) else {
            throw await failure(of: response)
        }
        return response
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
        request.method = question.method
        request.headers.add(name: "authorization", value: "Bearer \(token)")
        if let key = question.idempotencyKey {
            request.headers.add(name: "idempotency-key", value: key)
        }
        if let id = question.lastEventID {
            request.headers.add(name: "last-event-id", value: id)
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
