import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// The end of a proxied connection that a message comes from.
enum ProxySide: Int, Sendable {
    case client
    case server

    var other: ProxySide { self == .client ? .server : .client }
}

/// A reader of a protocol for a proxy.
///
/// It finds the ends of messages and the points at which to hold them.
///
/// Each connection has its own reader, which is used only on the connection's event loop.
protocol WireReader: SendableMetatype {
    /// A point at which a test can hold traffic.
    associatedtype Moment: Sendable
    init()
    /// Removes the next complete message from the buffer; `nil` while it is incomplete.
    mutating func nextMessage(from side: ProxySide, in buffer: inout ByteBuffer) -> ByteBuffer?
    /// Returns the point that forwarding this message would reach, if there is one.
    mutating func moment(of message: ByteBuffer, from side: ProxySide) -> Moment?
}

/// A TCP proxy that can hold messages at named points.
///
/// A test can therefore kill a process exactly there, from outside and without test code in the
/// product.
///
/// It can also cut all connections, or silently block them without closing them.
final class HoldingProxy<Reader: WireReader>: Sendable {
    typealias Condition = @Sendable (Reader.Moment) -> Bool

    let port: Int
    private let targetPort: Int
    /// The TLS context for its clients, if it uses TLS.
    private let tls: NIOSSLContext?
    private let state = Mutex<State>(State())

    private struct State {
        var holds: [(condition: Condition, hold: Hold)] = []
        var links: [ObjectIdentifier: ProxyLink<Reader>] = [:]
        var isDark = false
        var listener: (any Channel)?
    }

    init(port: Int, targetPort: Int, tls: NIOSSLContext? = nil) {
        self.port = port
        self.targetPort = targetPort
        self.tls = tls
    }

    /// Begins to accept connections.
    func resume() async throws {
        guard state.withLock({ $0.listener == nil }) else { return }
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try self.open(client: channel)
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        state.withLock { $0.listener = listener }
    }

    /// Refuses new connections and closes existing ones, including all held messages.
    func cut() async {
        let (listener, links) = state.withLock { state in
            defer { state.listener = nil }
            return (state.listener, Array(state.links.values))
        }
        // This fails only if it is already closed.
        try? await listener?.close().get()
        for link in links {
            link.onItsLoop { $0.close() }
        }
    }

    /// Blocks all traffic in both directions, like a network that drops every packet.
    ///
    /// Connections stay open and new ones are accepted, but nothing is answered. Neither end is
    /// informed when the other one closes.
    func darken() async throws {
        let links = state.withLock { state in
            state.isDark = true
            return Array(state.links.values)
        }
        for link in links { try await link.onItsLoop { $0.darken() }.get() }
    }

    /// Unblocks the traffic.
    ///
    /// - Parameter cutting: Whether the blocked connections are closed, as by a router that has
    ///   lost its state. If not, the blocked bytes arrive late, like retransmitted packets, even
    ///   from an end that has since closed its connection.
    /// - Throws: An error if the event loops have ended.
    func lighten(cutting: Bool) async throws {
        let links = state.withLock { state in
            state.isDark = false
            return Array(state.links.values)
        }
        for link in links {
            try await link.onItsLoop { if cutting { $0.close() } else { $0.lighten() } }.get()
        }
    }

    func hold(_ name: String, occurrence: Int, _ condition: @escaping Condition) -> Hold {
        let hold = Hold(name: name, occurrence: occurrence)
        state.withLock { $0.holds.append((condition, hold)) }
        return hold
    }

    fileprivate func hold(
        for moment: Reader.Moment,
        resume: @escaping @Sendable () -> Void
    ) -> Hold? {
        let holds = state.withLock { $0.holds }
        return holds.first { $0.condition(moment) && $0.hold.holds(resume: resume) }?.hold
    }

    fileprivate func forget(_ link: ProxyLink<Reader>) {
        state.withLock { _ = $0.links.removeValue(forKey: ObjectIdentifier(link)) }
    }

    /// Runs on the client channel's event loop, which the server's channel shares.
    private func open(client: any Channel) throws {
        let link = ProxyLink(proxy: self, client: client, targetPort: targetPort)
        if let tls {
            try client.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
        }
        try client.pipeline.syncOperations.addHandler(ProxyEnd(link: link, side: .client))
        let isDark = state.withLock { state in
            state.links[ObjectIdentifier(link)] = link
            return state.isDark
        }
        if isDark { link.darken() } else { link.connect() }
    }
}

/// A proxied connection.
///
/// Everything except the initializer runs on the event loop that both channels share.
private final class ProxyLink<Reader: WireReader>: @unchecked Sendable {  // One event loop.
    private let proxy: HoldingProxy<Reader>
    private let client: any Channel
    private let targetPort: Int
    private var server: (any Channel)?
    private var reader = Reader()
    private var buffers = [ByteBuffer(), ByteBuffer()]
    private var held: [ByteBuffer?] = [nil, nil]
    private var holds: [Hold] = []
    private var isConnecting = false
    private var isClosed = false
    private var isDark = false
    /// The sides that can resume when the traffic is unblocked.
    private var resumedInTheDark: Set<ProxySide> = []
    private var endedInTheDark: Set<ProxySide> = []

    init(proxy: HoldingProxy<Reader>, client: any Channel, targetPort: Int) {
        self.proxy = proxy
        self.client = client
        self.targetPort = targetPort
    }

    @discardableResult
    func onItsLoop(_ act: @escaping @Sendable (ProxyLink) -> Void) -> EventLoopFuture<Void> {
        client.eventLoop.submit { act(self) }
    }

    func connect() {
        isConnecting = true
        ClientBootstrap(group: client.eventLoop)
            .connectTimeout(.seconds(2))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { server in
                server.eventLoop.makeCompletedFuture {
                    try server.pipeline.syncOperations.addHandler(
                        ProxyEnd(link: self, side: .server)
                    )
                }
            }
            .connect(host: "127.0.0.1", port: targetPort)
            .whenComplete { result in
                switch result {
                case .success(let server): self.connected(to: server)
                case .failure: self.ended(.server)
                }
            }
    }

    private func connected(to server: any Channel) {
        self.server = server
        guard !isClosed else {
            server.close(promise: nil)
            return
        }
        setReading(server)
        forward(from: .client)
    }

    func received(_ bytes: inout ByteBuffer, from side: ProxySide) {
        buffers[side.rawValue].writeBuffer(&bytes)
        forward(from: side)
    }

    /// One end has closed its connection.
    ///
    /// The other end is informed unless traffic is blocked.
    func ended(_ side: ProxySide) {
        if isDark { endedInTheDark.insert(side) } else { close() }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        held = [nil, nil]
        client.close(promise: nil)
        server?.close(promise: nil)
        for hold in holds { hold.drop() }
        proxy.forget(self)
    }

    func darken() {
        isDark = true
        setReading(client)
        if let server { setReading(server) }
    }

    func lighten() {
        guard isDark, !isClosed else { return }
        isDark = false
        if !isConnecting { connect() }
        setReading(client)
        if let server { setReading(server) }
        for side in [ProxySide.client, .server] {
            if resumedInTheDark.remove(side) != nil { resume(side) } else { forward(from: side) }
        }
        if !endedInTheDark.isEmpty { close() }
    }

    /// While traffic is blocked, incoming bytes wait in the system's buffers, which are bounded.
    private func setReading(_ channel: any Channel) {
        // This fails only if the channel is closed.
        channel.setOption(.autoRead, value: !isDark).whenFailure { _ in }
    }

    private func forward(from side: ProxySide) {
        // The client's bytes wait in its buffer until there is a server connection.
        while !isClosed, !isDark, server != nil, held[side.rawValue] == nil,
            let message = reader.nextMessage(from: side, in: &buffers[side.rawValue])
        {
            if let moment = reader.moment(of: message, from: side) {
                held[side.rawValue] = message
                let eventLoop = client.eventLoop
                let hold = proxy.hold(for: moment) {
                    eventLoop.execute { self.resume(side) }
                }
                if let hold {
                    holds.append(hold)
                    return
                }
                held[side.rawValue] = nil
            }
            write(message, from: side)
        }
        buffers[side.rawValue].discardReadBytes()
    }

    private func resume(_ side: ProxySide) {
        guard let message = held[side.rawValue] else { return }
        guard !isDark else {
            resumedInTheDark.insert(side)
            return
        }
        held[side.rawValue] = nil
        write(message, from: side)
        forward(from: side)
    }

    private func write(_ message: ByteBuffer, from side: ProxySide) {
        let target = side == .client ? server : client
        target?.writeAndFlush(message, promise: nil)
    }
}

/// One end of a proxied connection.
private final class ProxyEnd<Reader: WireReader>: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let link: ProxyLink<Reader>
    private let side: ProxySide

    init(link: ProxyLink<Reader>, side: ProxySide) {
        self.link = link
        self.side = side
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        link.received(&bytes, from: side)
    }

    func channelInactive(context: ChannelHandlerContext) {
        link.ended(side)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
        link.ended(side)
    }
}
