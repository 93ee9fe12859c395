import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// Which end of a proxied connection a message comes from.
enum ProxySide: Int, Sendable {
    case client
    case server

    var other: ProxySide { self == .client ? .server : .client }
}

/// What a proxy has to know of a protocol: where messages end, and which moments they are.
///
/// One value per connection, used on that connection's event loop only.
protocol WireReader: SendableMetatype {
    /// A moment that a test can hold traffic at.
    associatedtype Moment: Sendable
    init()
    /// Takes the next whole message off the buffer; `nil` while it is incomplete.
    mutating func nextMessage(from side: ProxySide, in buffer: inout ByteBuffer) -> ByteBuffer?
    /// The moment that passing this message on would be, if it is one.
    mutating func moment(of message: ByteBuffer, from side: ProxySide) -> Moment?
}

/// A TCP proxy that can hold messages at named moments, so that a test can kill a process exactly
/// there, from outside, with no test code in the product.
///
/// It can also cut the line, or let it go dark: then nothing comes through and nobody is told.
final class HoldingProxy<Reader: WireReader>: Sendable {
    typealias Condition = @Sendable (Reader.Moment) -> Bool

    let port: Int
    private let targetPort: Int
    /// What it speaks TLS with its clients with, if it does.
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

    /// Refuses connections and drops those that exist, with all that is held for them.
    func cut() async {
        let (listener, links) = state.withLock { state in
            defer { state.listener = nil }
            return (state.listener, Array(state.links.values))
        }
        // Fails only where it is closed already.
        try? await listener?.close().get()
        for link in links {
            link.onItsLoop { $0.close() }
        }
    }

    /// Lets nothing through in either direction any more, as a network that drops every packet does:
    /// connections stay open and new ones are taken, but nothing is answered, and neither end is told
    /// when the other one closes.
    func darken() async throws {
        let links = state.withLock { state in
            state.isDark = true
            return Array(state.links.values)
        }
        for link in links { try await link.onItsLoop { $0.darken() }.get() }
    }

    /// Lets everything through again.
    ///
    /// - Parameter cutting: Whether the connections that were dark are closed, as by a router that has
    ///   forgotten them. If not, what was said in the dark arrives late, as packets do that are sent
    ///   again, even from an end that has closed its connection since.
    /// - Throws: An error when the event loops have ended.
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

    /// On the client channel's event loop; the server's channel shares it.
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

/// One proxied connection.
///
/// `@unchecked`: everything but the initializer runs on the event loop that both channels share.
private final class ProxyLink<Reader: WireReader>: @unchecked Sendable {
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
    /// What may go on once it is light again.
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

    /// One end has closed its connection; the other is told, unless it is dark.
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

    /// In the dark what comes waits in the system's buffers, which bound it.
    private func setReading(_ channel: any Channel) {
        // Fails only where it is closed.
        channel.setOption(.autoRead, value: !isDark).whenFailure { _ in }
    }

    private func forward(from side: ProxySide) {
        // What a client says before there is a server waits in its buffer.
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
