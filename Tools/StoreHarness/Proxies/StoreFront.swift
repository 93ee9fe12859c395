import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// One address for all services, as clients have it behind a proxy.
///
/// It passes each request on to the service that the table in `deploy/front` names for its path, and
/// answers 404 to all others.
public final class StoreFront: Sendable {
    /// A line of the table: the address of the service that answers matching paths.
    private struct Rule: Sendable {
        let pattern: String
        let url: String
    }

    /// The headers that belong to one connection.
    private static let ownHeaders = ["connection", "content-length", "host", "transfer-encoding"]

    private let rules: [Rule]
    private let listener = HTTPListener()

    private init(rules: [Rule]) { self.rules = rules }

    /// Starts it on a free port.
    ///
    /// - Parameter urls: The addresses of the services.
    /// - Returns: The front.
    /// - Throws: An error if the table cannot be read or no port is free.
    public static func start(for urls: StoreURLs) async throws -> StoreFront {
        let front = StoreFront(rules: try rules(for: urls))
        try await front.listener.start { FrontHandler(front) }
        return front
    }

    private static func rules(for urls: StoreURLs) throws -> [Rule] {
        let table = try String(
            contentsOfFile: SourceTree.path("deploy/front/default.conf.template"),
            encoding: .utf8
        )
        let addresses = [
            "catalog": urls.catalog, "fulfillment": urls.fulfillment, "payments": urls.payments,
            "receipts": urls.receipts,
        ]
        return table.split(separator: "\n").compactMap { line -> Rule? in
            guard let match = line.firstMatch(of: /^\s*~(\S+)\s+([a-z]+);$/),
                let url = addresses[String(match.2)]
            else { return nil }
            return Rule(pattern: String(match.1), url: url)
        }
    }

    /// The address.
    public var url: String { listener.url }

    /// Stops listening.
    public func stop() async { await listener.stop() }

    /// Passes a request on, and its answer back as it comes.
    fileprivate func answer(
        _ head: HTTPRequestHead,
        _ body: ByteBuffer,
        on channel: any Channel
    ) async {
        do {
            guard let url = try service(of: head.uri) else {
                try await Self.write(.notFound, ["content-length": "0"], on: channel)
                return try await Self.end(on: channel)
            }
            var request = HTTPClientRequest(url: url + head.uri)
            request.method = head.method
            request.headers = head.headers
            for name in Self.ownHeaders { request.headers.remove(name: name) }
            if body.readableBytes > 0 { request.body = .bytes(body) }
            let response = try await StoreHTTP.client.execute(request, timeout: .minutes(30))
            var headers = response.headers
            for name in ["connection", "transfer-encoding"] { headers.remove(name: name) }
            try await Self.write(response.status, headers, on: channel)
            for try await chunk in response.body {
                let part = HTTPServerResponsePart.body(.byteBuffer(chunk))
                try await channel.writeAndFlush(part).get()
            }
            try await Self.end(on: channel)
        } catch {
            // The client sees that the connection breaks off, as that to the service did. Closing it
            // fails only if it is already closed.
            try? await channel.close().get()
        }
    }

    /// The address of the service that answers a path; `nil` if none does.
    private func service(of uri: String) throws -> String? {
        let path = String(uri.prefix { $0 != "?" })
        return try rules.first { try Regex($0.pattern).firstMatch(in: path) != nil }?.url
    }

    private static func write(
        _ status: HTTPResponseStatus,
        _ headers: HTTPHeaders,
        on channel: any Channel
    ) async throws {
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        try await channel.writeAndFlush(HTTPServerResponsePart.head(head)).get()
    }

    private static func end(on channel: any Channel) async throws {
        try await channel.writeAndFlush(HTTPServerResponsePart.end(nil)).get()
    }
}

private final class FrontHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let front: StoreFront
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    private var answering: Task<Void, Never>?

    init(_ front: StoreFront) { self.front = front }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = ByteBuffer()
        case .body(let bytes):
            body.writeImmutableBuffer(bytes)
        case .end:
            guard let head else { return }
            self.head = nil
            let channel = context.channel
            answering = Task { [front, body] in await front.answer(head, body, on: channel) }
        }
    }

    /// The client does not want the rest of an answer, such as a stream.
    func channelInactive(context: ChannelHandlerContext) {
        answering?.cancel()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
