import HTTPTypes
import NIOCore
import NIOHTTP1

/// Puts right what the server above does not look at in a request's head, and gives its bare answer to
/// a head that cannot be read a body.
///
/// - It closes the connections of clients that do not say so in the one way that the server knows:
///   those of HTTP/1.0, which read an answer to the end of its connection, and those that write `Close`.
/// - It leaves a request of HTTP/1.1 with a `Host` only if there is exactly one; a request of HTTP/1.0
///   needs none, and gets an empty one.
final class RequestHeadHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// What follows a head that lacks a body.
    private var missingBody: ByteBuffer?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else {
            context.fireChannelRead(data)
            return
        }
        let isOld = head.version.minor == 0
        if isOld || !head.isKeepAlive {
            head.headers.replaceOrAdd(name: "connection", value: "close")
        }
        let hosts = head.headers["host"].count
        if hosts > 1 {
            head.headers.remove(name: "host")
        } else if isOld, hosts == 0 {
            head.headers.add(name: "host", value: "")
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head)
        where head.status == .badRequest && !head.headers.contains(name: "content-type"):
            // The routes' own answers have a type: this is the server's to a head it cannot read.
            let body = Self.unreadable()
            missingBody = body
            head.headers.replaceOrAdd(name: "content-type", value: "application/problem+json")
            head.headers.replaceOrAdd(name: "content-length", value: "\(body.readableBytes)")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            if let body = missingBody.take() {
                context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            }
            context.write(data, promise: promise)
        default:
            context.write(data, promise: promise)
        }
    }

    private static func unreadable() -> ByteBuffer {
        let problem = HTTPProblem(
            .badRequest,
            code: "malformed_request",
            title: "The request cannot be read",
            detail: """
                The request line and the headers have to follow RFC 9112. A header has at most 16 KB, \
                all of them 32 KB and 100 lines.
                """
        )
        // A problem holds texts and whole numbers, which always encode.
        return (try? encodedJSON(problem.problem)) ?? ByteBuffer(string: "{}")
    }
}
