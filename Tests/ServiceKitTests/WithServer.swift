import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import StoreAPI
import StoreTracing

@testable import ServiceKit

/// A logger without output.
let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Runs services while the body runs, then shuts them down gracefully.
func withRunning<R: Sendable>(
    _ services: [any Service],
    _ body: @Sendable (ServiceGroup) async throws -> R
) async throws -> R {
    let group = ServiceGroup(
        configuration: ServiceGroupConfiguration(
            services: services.map {
                .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)
            },
            logger: silent
        )
    )
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await group.run() }
        let result = try await body(group)
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
        return result
    }
}

/// Runs a server on a free port with the routes of a test.
func withServer<R: Sendable>(
    readiness: [ReadinessCheck] = [],
    settings: HTTPSettings = HTTPSettings(port: 0),
    databaseWaitMax: Duration = .seconds(10),
    keys: TestKeys? = nil,
    spans: SpanRecorder = .off,
    logger: Logger = silent,
    routes: (StoreRouter) -> Void = { _ in },
    _ body: @escaping @Sendable (Int, ServiceGroup) async throws -> R
) async throws -> R {
    let keys = try keys ?? TestKeys()
    defer { keys.remove() }
    let router = storeRouter(
        authenticator: try keys.authenticator(),
        access: ["GET /v1/admin/me": [.read], "GET /v1/admin/store": [.operator, .merchandiser]],
        readiness: readiness,
        databaseWaitMax: databaseWaitMax,
        spans: spans,
        logger: logger
    )
    routes(router)
    let (ports, listening) = AsyncStream.makeStream(of: Int.self)
    let server = StoreHTTPServer(router: router, settings: settings, logger: silent) { port in
        listening.yield(port)
    }
    return try await withRunning([server]) { group in
        for await port in ports { return try await body(port, group) }
        throw CancellationError()
    }
}

/// A response as it was received.
struct WireResponse: Sendable {
    var status: Int
    var headers: [String: String]
    var body: String

    init(_ text: String) {
        let parts = text.components(separatedBy: "\r\n\r\n")
        let lines = parts[0].components(separatedBy: "\r\n")
        status = Int(lines[0].split(separator: " ").dropFirst().first ?? "") ?? 0
        headers = Dictionary(
            lines.dropFirst().map { line in
                let pair = line.split(separator: ":", maxSplits: 1)
                return (
                    pair[0].lowercased(),
                    pair.count > 1 ? pair[1].trimmingCharacters(in: .whitespaces) : ""
                )
            },
            uniquingKeysWith: { first, _ in first }
        )
        body = parts.dropFirst().joined(separator: "\r\n\r\n")
    }

    /// A field of the body, which is a JSON object.
    func field(_ name: String) throws -> String? {
        let object = try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
        return object?[name] as? String
    }
}

/// Opens a raw connection to the server.
///
/// It sends the greeting without leaving the connection's event loop, because on a busy machine a
/// task may wait longer for its turn than a server waits for the first byte.
func withConnection<R: Sendable>(
    to port: Int,
    saying greeting: String,
    _ body:
        @escaping @Sendable (
            NIOAsyncChannelInboundStream<ByteBuffer>, NIOAsyncChannelOutboundWriter<ByteBuffer>
        ) async throws -> R
) async throws -> R {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(host: "127.0.0.1", port: port) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(GreetingHandler(text: greeting))
                return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                    wrappingChannelSynchronously: channel,
                    configuration: .init(isOutboundHalfClosureEnabled: true)
                )
            }
        }
    return try await channel.executeThenClose { inbound, outbound in
        try await body(inbound, outbound)
    }
}

/// Sends its text as soon as the connection is open.
private final class GreetingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let text: String

    init(text: String) {
        self.text = text
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        context.fireChannelActive()
    }
}

/// Sends one request and reads until the server closes the connection.
func send(
    _ method: String = "GET",
    _ path: String,
    headers: [String: String] = [:],
    body: String? = nil,
    to port: Int
) async throws -> WireResponse {
    var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    if let body { head += "Content-Length: \(body.utf8.count)\r\n" }
    let text = head + "\r\n" + (body ?? "")
    return try await withConnection(to: port, saying: text) { inbound, _ in
        var received = ByteBuffer()
        for try await chunk in inbound { received.writeImmutableBuffer(chunk) }
        return WireResponse(String(buffer: received))
    }
}
