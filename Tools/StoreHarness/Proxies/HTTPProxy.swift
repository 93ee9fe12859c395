import NIOCore
import NIOSSL
import Synchronization

/// A proxy in front of a service.
///
/// It can hold requests and responses by their request line, and records all requests.
///
/// It supports only as much of HTTP/1.1 as the store's clients use: one request after the other on
/// a connection, each small enough to arrive in one piece.
public final class HTTPProxy: Sendable {
    /// A point in the life of a connection.
    public enum Point: Sendable, CustomStringConvertible {
        /// The client has sent the request, but the service has not received it.
        case beforeRequest(String)
        /// The service has sent a response or a part of it, but the client has not received it.
        case beforeResponse(String)

        /// The point as text.
        public var description: String {
            switch self {
            case .beforeRequest(let line): "before the request `\(line)`"
            case .beforeResponse(let line): "before the answer to `\(line)`"
            }
        }
    }

    private let proxy: HoldingProxy<HTTPWireReader>
    private let lines = Mutex<[String]>([])

    private let scheme: String

    private init(proxy: HoldingProxy<HTTPWireReader>, scheme: String) {
        self.proxy = proxy
        self.scheme = scheme
    }

    /// Starts a proxy.
    ///
    /// - Parameters:
    ///   - url: The service's address on this machine.
    ///   - authority: The authority that signs the proxy's certificate. With it, the proxy uses TLS
    ///     with its clients.
    /// - Returns: The proxy.
    /// - Throws: An error if the address has no port or no port is free.
    public static func start(
        inFrontOf url: String,
        certifiedBy authority: TLSAuthority? = nil
    ) async throws -> HTTPProxy {
        guard let port = url.split(separator: ":").last.flatMap({ Int($0) }) else {
            throw HarnessError("There is no port in \(url).")
        }
        let proxy = HTTPProxy(
            proxy: HoldingProxy(
                port: try freePort(),
                targetPort: port,
                tls: try authority?.server(named: "localhost")
            ),
            scheme: authority == nil ? "http" : "https"
        )
        _ = proxy.proxy.hold("every request", occurrence: 1) { [weak proxy] moment in
            if !moment.isResponse { proxy?.lines.withLock { $0.append(moment.requestLine) } }
            return false
        }
        try await proxy.resume()
        return proxy
    }

    /// The address of the proxy.
    public var url: String {
        "\(scheme)://\(scheme == "https" ? "localhost" : "127.0.0.1"):\(proxy.port)"
    }

    /// The received request lines in order.
    public var requests: [String] { lines.withLock { $0 } }

    /// Holds traffic at a point.
    ///
    /// - Parameters:
    ///   - point: The point. Its text is a part of the request line, such as `POST /v1/payments`.
    ///   - occurrence: The first occurrence of the point to hold.
    /// - Returns: The hold, which the test waits for and releases.
    public func hold(at point: Point, occurrence: Int = 1) -> Hold {
        proxy.hold("\(point)", occurrence: occurrence) { moment in
            switch point {
            case .beforeRequest(let line):
                !moment.isResponse && moment.requestLine.contains(line)
            case .beforeResponse(let line):
                moment.isResponse && moment.requestLine.contains(line)
            }
        }
    }

    /// Closes all connections and refuses new ones, like a failed network.
    public func cut() async { await proxy.cut() }

    /// Accepts connections again.
    public func resume() async throws { try await proxy.resume() }
}

/// The parts of HTTP that a proxy needs.
struct HTTPWireReader: WireReader {
    struct Moment: Sendable {
        var requestLine: String
        var isResponse: Bool
    }

    private var requestLine = ""

    mutating func nextMessage(from side: ProxySide, in buffer: inout ByteBuffer) -> ByteBuffer? {
        guard buffer.readableBytes > 0 else { return nil }
        return buffer.readSlice(length: buffer.readableBytes)
    }

    mutating func moment(of message: ByteBuffer, from side: ProxySide) -> Moment? {
        guard side == .client else { return Moment(requestLine: requestLine, isResponse: true) }
        let text = String(decoding: message.readableBytesView.prefix(256), as: UTF8.self)
        // Bytes that do not begin a request are the rest of one.
        guard let line = text.split(separator: "\r\n").first, line.hasSuffix(" HTTP/1.1") else {
            return nil
        }
        requestLine = String(line)
        return Moment(requestLine: requestLine, isResponse: false)
    }
}
