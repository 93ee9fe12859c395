import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An HTTP server on a free port of this machine.
final class HTTPListener: Sendable {
    private let channel = Mutex<(any Channel)?>(nil)

    /// The address without a path, once it has been started.
    var url: String {
        let port = channel.withLock { $0?.localAddress?.port } ?? 0
        return "http://127.0.0.1:\(port)"
    }

    /// Starts listening.
    ///
    /// - Parameter handler: Makes the handler of a connection's requests.
    /// - Throws: An error if no port is free.
    func start(handler: @escaping @Sendable () -> any ChannelHandler) async throws {
        let bound = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(handler())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        channel.withLock { $0 = bound }
    }

    /// Stops listening.
    func stop() async {
        let channel = channel.withLock { $0 }
        // This fails only if it is already closed.
        try? await channel?.close().get()
    }
}
