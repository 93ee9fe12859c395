import HTTPTypes
import NIOCore
import NIOHTTP1

/// Corrects details of a request's head that the server ignores, and adds a body to the server's
/// answer to an unreadable head.
///
/// - It closes connections after the answer if the client asked for it in a way that the server
///   does not understand: by speaking HTTP/1.0, whose clients read to the end of the connection, or
///   by writing `Close`.
/// - It removes the `Host` headers if there are several, so that the request is refused like one
///   without. A request of HTTP/1.0 needs no `Host`, and gets an empty one.
final class RequestHeadHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The body for an answer that the server sends without one.
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
            // The answers of routes have a content type. One without is the server's answer to an
            // unreadable head.
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
        // A problem contains only texts and whole numbers, which always encode.
        return (try? encodedJSON(problem.problem)) ?? ByteBuffer(string: "{}")
    }
}
