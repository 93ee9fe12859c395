import AsyncHTTPClient
import EventTypes
import NIOCore
import NIOHTTP1

/// Makes one try of a webhook over HTTP, and names how it ended.
struct WebhookTransport: Sendable {
    private let client: HTTPClient
    private let signer: WebhookSigner
    private let timeout: Duration
    /// As much of an answer is read to keep the connection; what is longer costs the connection.
    private static let answerMax = 64 * 1024

    init(signer: WebhookSigner, timeout: Duration) {
        self.signer = signer
        self.timeout = timeout
        var configuration = HTTPClient.Configuration()
        // A redirect would send a signed transaction to an address that nobody registered.
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        configuration.timeout.connect = .nanoseconds(timeout.milliseconds * 1_000_000)
        // The deliveries ledger repeats; a try that repeats by itself would tell nothing.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Sends a webhook and waits for the answer's status.
    ///
    /// - Throws: `CancellationError` if the try was broken off; nothing is known then.
    func send(_ webhook: Webhook, at time: Timestamp) async throws -> WebhookResult {
        var request = HTTPClientRequest(url: webhook.url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "user-agent", value: "counterfoil")
        let body = try webhook.body()
        for (name, value) in signer.headers(id: webhook.id, time: time, body: body) {
            request.headers.add(name: name, value: value)
        }
        request.body = .bytes(ByteBuffer(bytes: body))
        let deadline = ContinuousClock.now + timeout
        do {
            let response = try await client.execute(
                request,
                timeout: .nanoseconds(timeout.milliseconds * 1_000_000)
            )
            await drain(response.body, until: deadline)
            return (200..<300).contains(response.status.code) ? .success : .unsuccessfulStatus
        } catch {
            try Task.checkCancellation()
            return Self.result(of: error)
        }
    }

    /// Closes the connections.
    func shutDown() async throws {
        try await client.shutdown()
    }

    /// Reads an answer to its end, so that its connection serves the next webhook; one that does
    /// not end in time costs the connection.
    private func drain(
        _ body: HTTPClientResponse.Body,
        until deadline: ContinuousClock.Instant
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await drain(body) }
            group.addTask {
                // Cancelled: the answer has ended.
                try? await Task.sleep(until: deadline)
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func drain(_ body: HTTPClientResponse.Body) async {
        var count = 0
        do {
            for try await bytes in body {
                count += bytes.readableBytes
                if count > Self.answerMax { return }
            }
        } catch {
            // The status has decided already; what is wrong with the rest costs the connection.
        }
    }

    private static func result(of error: any Error) -> WebhookResult {
        switch error as? HTTPClientError {
        case .deadlineExceeded, .readTimeout, .writeTimeout, .connectTimeout,
            .getConnectionFromPoolTimeout:
            return .timedOut
        case .tlsHandshakeTimeout: return .tlsIssue
        case .remoteConnectionClosed: return .noResponse
        case .uncleanShutdown: return .prematureClose
        case .some: return .other
        case .none: break
        }
        // Some types belong to packages that this service has no other use for.
        let type = String(reflecting: Swift.type(of: error))
        if type.hasPrefix("NIOSSL") { return .tlsIssue }
        if error is HTTPParserError { return .invalidResponse }
        if error is IOError || error is ChannelError || type.contains("ConnectionError") {
            return .socketIssue
        }
        return .other
    }
}
