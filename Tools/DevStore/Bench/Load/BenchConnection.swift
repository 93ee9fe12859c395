import Foundation
import NIOCore
import NIOPosix

/// A kept-alive HTTP/1.1 connection with at most one request in flight.
///
/// Requests are prepared bytes, and only the status and the body of the response are read. It
/// exists because the load shares the machine with the measured store.
final class BenchConnection: ChannelInboundHandler, @unchecked Sendable {  // One event loop.
    typealias InboundIn = ByteBuffer
    typealias Completion = (_ status: Int, _ body: ByteBuffer) -> Void

    private var channel: (any Channel)?
    private var received = ByteBuffer()
    private var completion: Completion?
    private let onClose: () -> Void

    init(onClose: @escaping () -> Void) { self.onClose = onClose }

    static func connect(
        port: Int,
        on eventLoop: any EventLoop,
        onClose: @escaping @Sendable () -> Void
    ) -> EventLoopFuture<BenchConnection> {
        let connection = BenchConnection(onClose: onClose)
        return ClientBootstrap(group: eventLoop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(connection)
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .map { channel in
                connection.channel = channel
                return connection
            }
    }

    func send(_ request: ByteBuffer, completion: @escaping Completion) {
        precondition(self.completion == nil, "One request at a time.")
        self.completion = completion
        channel?.writeAndFlush(request, promise: nil)
    }

    func close() { channel?.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        guard let (status, body) = takeAnswer(), let completion else { return }
        self.completion = nil
        completion(status, body)
    }

    func channelInactive(context: ChannelHandlerContext) { onClose() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func takeAnswer() -> (status: Int, body: ByteBuffer)? {
        let head = received.withUnsafeReadableBytes { bytes -> (Int, Int, Int)? in
            guard let end = find("\r\n\r\n", in: bytes, from: 0), end > 12 else { return nil }
            let status = wholeNumber(in: bytes, from: 9)
            let name =
                find("\r\ncontent-length: ", in: bytes, from: 0)
                ?? find("\r\nContent-Length: ", in: bytes, from: 0)
            guard let name, name < end else { return (status, end + 4, 0) }
            return (status, end + 4, wholeNumber(in: bytes, from: name + 18))
        }
        guard let (status, headLength, bodyLength) = head,
            received.readableBytes >= headLength + bodyLength
        else { return nil }
        received.moveReaderIndex(forwardBy: headLength)
        let body = received.readSlice(length: bodyLength) ?? ByteBuffer()
        if received.readableBytes == 0 { received.clear() }
        return (status, body)
    }
}

/// The position at which a text begins in bytes.
func find(_ text: StaticString, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    let length = text.utf8CodeUnitCount
    guard let base = bytes.baseAddress else { return nil }
    var position = start
    while position + length <= bytes.count,
        let found = memchr(
            base + position,
            Int32(text.utf8Start.pointee),
            bytes.count - length - position + 1
        )
    {
        if memcmp(found, text.utf8Start, length) == 0 { return UnsafeRawPointer(found) - base }
        position = UnsafeRawPointer(found) - base + 1
    }
    return nil
}

/// The decimal number that begins at a position.
func wholeNumber(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    var number = 0
    var index = start
    while index < bytes.count, bytes[index] >= 48, bytes[index] <= 57 {
        number = number * 10 + Int(bytes[index] - 48)
        index += 1
    }
    return number
}
