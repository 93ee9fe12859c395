import Foundation
import NIOCore
import NIOHTTP1

/// Sets a connection's options.
///
/// The options make the kernel give up on a client that is gone or does not read; otherwise its
/// stream would be held for many minutes. The receive buffer begins small, because a connection
/// keeps it and many connections read no more than one request head.
final class ConnectionOptionsHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias InboundOut = NIOAny

    func handlerAdded(context: ChannelHandlerContext) {
        guard let options = context.channel.syncOptions else { return }
        // Only a connection that has just ended refuses an option, here and below.
        try? options.setOption(.socketOption(.so_keepalive), value: 1)
        #if os(Linux)
        try? options.setOption(
            .tcpOption(NIOBSDSocket.Option(rawValue: TCP_USER_TIMEOUT)),
            value: 30_000
        )
        #endif
        try? options.setOption(
            .recvAllocator,
            value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 1024, maximum: 65_536)
        )
        lookAtHeads(context.pipeline.syncOperations)
    }

    private func lookAtHeads(_ pipeline: ChannelPipeline.SynchronousOperations) {
        // The decoder is added before our handlers. Without it there is no HTTP to handle. A handler
        // can be added next to one that was found, unless the connection has ended.
        guard
            let decoder = try? pipeline.context(
                handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self
            )
        else { return }
        try? pipeline.addHandler(RequestHeadHandler(), position: .after(decoder.handler))
    }
}
