import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Makes one try of a call over HTTP, and classifies its outcome.
///
/// Any number of calls may be under way at once, from any task. Call ``shutDown()`` once, at the
/// end.
public struct CallbackTransport: Sendable {
    private let clients: HostClients
    private let timeout: Duration
    private let confirming: Range<UInt>
    /// The length up to which an answer is read to reuse the connection.
    ///
    /// A longer one closes it.
    private static let answerMax = 64 * 1024

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - timeout: The time limit for a try, from connecting to the end of the answer.
    ///   - confirming: The statuses with which a recipient confirms.
    ///   - resolver: Finds the addresses of recipients' names.
    ///   - addressLifetime: The time for which addresses are cached.
    public init(
        timeout: Duration,
        confirming: Range<UInt> = 200..<300,
        resolver: any NameResolver = SystemResolver(),
        addressLifetime: Duration = .seconds(10)
    ) {
        self.timeout = timeout
        self.confirming = confirming
        var configuration = HTTPClient.Configuration()
        // The store's own code records spans of calls and sets `traceparent`.
        configuration.tracing.tracer = nil
        // A redirect would send the purchase to an address that nobody registered.
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        // The other half is for another address and for the answer.
        configuration.timeout.connect = .nanoseconds(timeout.nanoseconds / 2)
        // The sender repeats calls. A hidden retry would make the recorded outcome meaningless.
        configuration.connectionPool.retryConnectionEstablishment = false
        clients = HostClients(
            configuration: configuration,
            resolver: resolver,
            addressLifetime: addressLifetime
        )
    }

    /// Posts JSON and waits for the answer's status.
    ///
    /// - Parameters:
    ///   - body: The bytes to send.
    ///   - url: The URL of the recipient's endpoint.
    ///   - headers: The headers besides the content type.
    /// - Returns: The outcome of the try, `success` if the status confirms the call.
    /// - Throws: `CancellationError` if the try was cancelled. Its outcome is then unknown.
    public func post(
        _ body: [UInt8],
        to url: String,
        headers: [(name: String, value: String)] = []
    ) async throws -> CallbackResult {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "user-agent", value: "counterfoil")
        for (name, value) in headers {
            request.headers.add(name: name, value: value)
        }
        request.body = .bytes(ByteBuffer(bytes: body))
        let deadline = ContinuousClock.now + timeout
        do {
            return try await clients.execute(request, timeout: timeout) { response in
                await drain(response.body, until: deadline)
                return confirming.contains(response.status.code) ? .success : .unsuccessfulStatus
            }
        } catch {
            try Task.checkCancellation()
            return Self.result(of: error)
        }
    }

    /// Closes the connections.
    public func shutDown() async throws {
        try await clients.shutDown()
    }

    /// Reads an answer to its end, so that its connection can be reused.
    ///
    /// If it does not end in time, the connection is closed.
    private func drain(
        _ body: HTTPClientResponse.Body,
        until deadline: ContinuousClock.Instant
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await drain(body) }
            group.addTask {
                // Cancelled because the answer has ended.
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
            // The status has decided the outcome. A problem with the rest only closes the
            // connection.
        }
    }

    private static func result(of error: any Error) -> CallbackResult {
        switch error as? NameResolutionError {
        case .timedOut: return .timedOut
        case .unknown: return .socketIssue
        case .none: break
        }
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
        // Some types belong to packages that this module does not import otherwise.
        let type = String(reflecting: Swift.type(of: error))
        if type.hasPrefix("NIOSSL") { return .tlsIssue }
        if error is HTTPParserError { return .invalidResponse }
        if error is IOError || error is ChannelError || type.contains("ConnectionError") {
            return .socketIssue
        }
        return .other
    }
}

extension Duration {
    /// The duration in whole nanoseconds.
    var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
