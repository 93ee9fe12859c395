import NIOCore

/// A proxy in front of the broker that can hold requests and responses by type.
///
/// The broker must advertise the proxy's port, so that clients stay on it.
public final class KafkaProxy: Sendable {
    /// The requests of Kafka's protocol that tests use.
    public enum API: Int16, Sendable {
        /// Writes records to topics.
        case produce = 0
        /// Reads records from topics.
        case fetch = 1
        /// Commits the offsets of a group.
        case offsetCommit = 8
        /// A member asks for its partitions.
        case syncGroup = 14
    }

    /// A point in the life of a connection.
    public enum Point: Sendable, CustomStringConvertible {
        /// The client has sent the request, but the broker has not received it.
        case beforeRequest(API, client: String = "", containing: String = "")
        /// The broker has answered the request, but the client has not received the response.
        case beforeResponse(API, client: String = "", containing: String = "")

        /// The point as text.
        public var description: String {
            switch self {
            case .beforeRequest(let api, let client, let text):
                "before a \(api) request of `\(client)` with `\(text)`"
            case .beforeResponse(let api, let client, let text):
                "before the answer to a \(api) request of `\(client)` with `\(text)`"
            }
        }
    }

    private let proxy: HoldingProxy<KafkaWireReader>

    /// The port to connect to instead of the broker's.
    public var port: Int { proxy.port }

    private init(proxy: HoldingProxy<KafkaWireReader>) { self.proxy = proxy }

    /// Starts a proxy.
    ///
    /// - Parameters:
    ///   - brokerPort: The broker's port on this machine.
    ///   - port: The port to listen on, which the broker advertises.
    /// - Returns: The proxy.
    /// - Throws: An error when the port is taken.
    public static func start(inFrontOf brokerPort: Int, on port: Int) async throws -> KafkaProxy {
        let proxy = HoldingProxy<KafkaWireReader>(port: port, targetPort: brokerPort)
        try await proxy.resume()
        return KafkaProxy(proxy: proxy)
    }

    /// Holds traffic at a point.
    ///
    /// - Parameters:
    ///   - point: The point. Its `client` is a part of the client id. Its `containing` is a text in
    ///     the request, such as the name of a topic or group.
    ///   - occurrence: The first occurrence of the point to hold.
    /// - Returns: The hold, which the test waits for and releases.
    public func hold(at point: Point, occurrence: Int = 1) -> Hold {
        proxy.hold("\(point)", occurrence: occurrence) { moment in
            switch (point, moment.isResponse) {
            case (.beforeRequest(let api, let client, let text), false),
                (.beforeResponse(let api, let client, let text), true):
                moment.api == api.rawValue
                    && (client.isEmpty || moment.clientID.contains(client))
                    && moment.requestContains(text)
            default: false
            }
        }
    }

    /// Closes all connections and refuses new ones, like a failed network.
    public func cut() async { await proxy.cut() }

    /// Accepts connections again.
    public func resume() async throws { try await proxy.resume() }

    /// Blocks all traffic in both directions without a reset, until ``lighten(cutting:)``.
    public func darken() async throws { try await proxy.darken() }

    /// Unblocks the traffic.
    ///
    /// Without a block it does nothing.
    ///
    /// - Parameter cutting: Whether the blocked connections are closed. If not, their bytes arrive
    ///   late.
    /// - Throws: An error if the event loops have ended.
    public func lighten(cutting: Bool = false) async throws {
        try await proxy.lighten(cutting: cutting)
    }
}

/// Reads the headers of Kafka's requests, and matches responses to requests.
struct KafkaWireReader: WireReader {
    struct Moment: Sendable {
        var api: Int16
        var clientID: String
        var request: ByteBuffer
        var isResponse: Bool

        func requestContains(_ text: String) -> Bool {
            guard !text.isEmpty else { return true }
            let bytes = request.readableBytesView
            let wanted = Array(text.utf8)
            guard let first = wanted.first, bytes.count >= wanted.count else { return false }
            var start = bytes.startIndex
            while let found = bytes[start...].firstIndex(of: first) {
                if bytes[found...].starts(with: wanted) { return true }
                start = found + 1
            }
            return false
        }
    }

    /// The requests without a response, by correlation id.
    private var open: [Int32: Moment] = [:]
    private static let apisOfInterest: Set<Int16> = [0, 1, 8, 11, 14]

    mutating func nextMessage(from side: ProxySide, in buffer: inout ByteBuffer) -> ByteBuffer? {
        guard let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) else {
            return nil
        }
        return buffer.readSlice(length: 4 + Int(length))
    }

    mutating func moment(of message: ByteBuffer, from side: ProxySide) -> Moment? {
        var header = message
        header.moveReaderIndex(forwardBy: 4)
        if side == .server {
            guard let correlation = header.readInteger(as: Int32.self),
                var moment = open.removeValue(forKey: correlation)
            else { return nil }
            moment.isResponse = true
            return moment
        }
        guard
            let (api, _, correlation, length) = header.readMultipleIntegers(
                as: (Int16, Int16, Int32, Int16).self
            ),
            Self.apisOfInterest.contains(api)
        else { return nil }
        let clientID = length > 0 ? header.readString(length: Int(length)) ?? "" : ""
        let moment = Moment(api: api, clientID: clientID, request: message, isResponse: false)
        open[correlation] = moment
        return moment
    }
}
