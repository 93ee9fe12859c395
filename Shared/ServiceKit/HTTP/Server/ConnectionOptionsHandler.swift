import Foundation
import NIOCore
import NIOHTTP1

/// Sets a connection's options.
///
/// The kernel gives up on a client that is gone or does not read: without it, a stream to such a
/// client would be held for many minutes. The buffer for what is read begins small: a connection
/// keeps it, and many read no more than the head of one request.
final class ConnectionOptionsHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias InboundOut = NIOAny

    func handlerAdded(context: ChannelHandlerContext) {
        guard let options = context.channel.syncOptions else { return }
        // A connection that cannot take an option is about to fail by itself.
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
        // The decoder is there before any handler of ours; without it there is no HTTP to look at.
        guard
            let decoder = try? pipeline.context(
                handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self
            )
        else { return }
        try? pipeline.addHandler(RequestHeadHandler(), position: .after(decoder.handler))
    }
}
