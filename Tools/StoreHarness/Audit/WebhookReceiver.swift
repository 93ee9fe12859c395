import NIOCore
public import NIOHTTP1
import Synchronization

/// A merchant's endpoint that stores what it receives and answers as configured by the test.
public final class WebhookReceiver: Sendable {
    /// A received request.
    public struct Delivery: Sendable {
        /// The method, as in `POST`.
        public var method: String
        /// The path.
        public var path: String
        /// The headers.
        public var headers: HTTPHeaders
        /// The body.
        public var body: [UInt8]

        /// The id, which is the same in each attempt.
        public var id: String? { headers.first(name: "webhook-id") }
    }

    /// An answer to a request.
    public enum Reply: Sendable {
        /// A response with this status.
        case status(Int)
        /// No response. The connection stays open.
        case silence
    }

    private let state: Mutex<State>
    private let listener = HTTPListener()

    private struct State {
        var deliveries: [Delivery] = []
        /// The ids of the webhooks that were answered with a 2xx.
        var confirmed: Set<String> = []
        /// The requests that were answered with a 2xx, in order.
        var confirmedDeliveries: [Delivery] = []
        var reply: @Sendable (_ delivery: Delivery, _ count: Int) -> Reply
    }

    private init() {
        state = Mutex(State(reply: { _, _ in .status(200) }))
    }

    /// Starts a receiver on a free port.
    public static func start() async throws -> WebhookReceiver {
        let receiver = WebhookReceiver()
        try await receiver.listener.start { WebhookHandler(receiver) }
        return receiver
    }

    /// The URL of the endpoint.
    public var url: String { listener.url + "/deliveries" }

    /// The received requests in order.
    public var deliveries: [Delivery] { state.withLock { $0.deliveries } }

    /// The ids of the webhooks that were answered with a 2xx.
    public var confirmed: Set<String> { state.withLock { $0.confirmed } }

    /// The requests that were answered with a 2xx, in order.
    public var confirmedDeliveries: [Delivery] { state.withLock { $0.confirmedDeliveries } }

    /// Sets the answers to future requests.
    ///
    /// - Parameter reply: Receives the request and the number of earlier requests.
    public func reply(with reply: @escaping @Sendable (Delivery, Int) -> Reply) {
        state.withLock { $0.reply = reply }
    }

    /// Stops listening.
    public func stop() async { await listener.stop() }

    fileprivate func received(_ delivery: Delivery) -> Reply {
        let (reply, count) = state.withLock { state in
            defer { state.deliveries.append(delivery) }
            return (state.reply, state.deliveries.count)
        }
        let answer = reply(delivery, count)
        if case .status(200..<300) = answer {
            state.withLock { state in
                state.confirmedDeliveries.append(delivery)
                if let id = delivery.id { state.confirmed.insert(id) }
            }
        }
        return answer
    }
}

private final class WebhookHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let receiver: WebhookReceiver
    private var delivery: WebhookReceiver.Delivery?

    init(_ receiver: WebhookReceiver) { self.receiver = receiver }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            delivery = .init(
                method: head.method.rawValue,
                path: head.uri,
                headers: head.headers,
                body: []
            )
        case .body(let bytes):
            delivery?.body.append(contentsOf: bytes.readableBytesView)
        case .end:
            guard let delivery else { return }
            self.delivery = nil
            guard case .status(let status) = receiver.received(delivery) else { return }
            let head = HTTPResponseHead(
                version: .http1_1,
                status: .init(statusCode: status),
                headers: ["content-length": "0"]
            )
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
