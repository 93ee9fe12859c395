import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// One account's queue, followed for the benchmark.
///
/// It reads only the transaction's id, its state and its delivery from each event.
final class BenchStream: ChannelInboundHandler, @unchecked Sendable {  // One event loop.
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let token: String
    private let onDelivered: (_ transactionID: Int) -> Void
    private let onClose: () -> Void
    private var received = ByteBuffer()
    private let opened: EventLoopPromise<Void>
    private var channel: (any Channel)?

    private init(
        token: String,
        opened: EventLoopPromise<Void>,
        onDelivered: @escaping (Int) -> Void,
        onClose: @escaping () -> Void
    ) {
        self.token = token
        self.opened = opened
        self.onDelivered = onDelivered
        self.onClose = onClose
    }

    /// Connects, and succeeds after the server has begun the stream.
    static func open(
        port: Int,
        token: String,
        on eventLoop: any EventLoop,
        onDelivered: @escaping @Sendable (Int) -> Void,
        onClose: @escaping @Sendable () -> Void
    ) -> EventLoopFuture<BenchStream> {
        let opened = eventLoop.makePromise(of: Void.self)
        let stream = BenchStream(
            token: token,
            opened: opened,
            onDelivered: onDelivered,
            onClose: onClose
        )
        return ClientBootstrap(group: eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(stream)
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .flatMapError { error in
                opened.fail(error)
                return eventLoop.makeFailedFuture(error)
            }
            .flatMap { channel in
                stream.channel = channel
                return opened.futureResult
            }
            .map { stream }
    }

    func close() { channel?.close(promise: nil) }

    func channelActive(context: ChannelHandlerContext) {
        let head = HTTPRequestHead(
            version: .http1_1,
            method: .GET,
            uri: "/v1/queue",
            headers: [
                "host": "127.0.0.1", "accept": "text/event-stream",
                "authorization": "Bearer \(token)",
            ]
        )
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            if head.status == .ok {
                opened.succeed()
            } else {
                opened.fail(BenchError("A queue refused with \(head.status.code)."))
            }
        case .body(var bytes):
            received.writeBuffer(&bytes)
            readEvents()
        case .end:
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        opened.fail(BenchError("A queue was closed."))
        onClose()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func readEvents() {
        var told: [Int] = []
        let consumed = received.withUnsafeReadableBytes { bytes in
            var start = 0
            while let end = find("\n\n", in: bytes, from: start) {
                let event = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                if find(#""state":"purchased""#, in: event, from: 0) != nil,
                    find(#""isDelivered":true"#, in: event, from: 0) != nil,
                    find(#""finishedAt":"#, in: event, from: 0) == nil,
                    let id = find(#""id":""#, in: event, from: 0)
                {
                    told.append(wholeNumber(in: event, from: id + 6))
                }
                start = end + 2
            }
            return start
        }
        received.moveReaderIndex(forwardBy: consumed)
        received.discardReadBytes()
        for id in told { onDelivered(id) }
    }
}

/// An error of the benchmark.
struct BenchError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
