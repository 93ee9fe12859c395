import NIOCore

/// A proxy in front of the broker that can hold requests and answers by their kind.
///
/// The broker has to advertise the proxy's port, so that clients stay on it.
public final class KafkaProxy: Sendable {
    /// The requests of Kafka's protocol that tests name.
    public enum API: Int16, Sendable {
        /// Records for topics.
        case produce = 0
        /// Records from topics.
        case fetch = 1
        /// Where a group is.
        case offsetCommit = 8
        /// A member asks into a group.
        case joinGroup = 11
        /// A member asks for its partitions.
        case syncGroup = 14
    }

    /// A moment in a connection's life.
    public enum Point: Sendable, CustomStringConvertible {
        /// The client sent the request; the broker has not got it.
        case beforeRequest(API, client: String = "", containing: String = "")
        /// The broker has answered the request; the client has no answer yet.
        case beforeResponse(API, client: String = "", containing: String = "")

        /// In words.
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
    ///   - point: Where. Its `client` is a part of the client id; its `containing` is text in the
    ///     request's bytes, such as a topic's or a group's name.
    ///   - occurrence: From which time on that the point is reached.
    /// - Returns: The hold, to wait for and to release.
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

    /// Drops all connections and refuses others, as a dead network does.
    public func cut() async { await proxy.cut() }

    /// Accepts connections again.
    public func resume() async throws { try await proxy.resume() }

    /// Swallows all traffic, both ways and without a reset, until ``lighten(cutting:)``.
    public func darken() async throws { try await proxy.darken() }

    /// Ends the dark; a proxy that is not dark is left as it is.
    ///
    /// - Parameter cutting: Whether the connections that were dark are closed. If not, what was said on
    ///   them arrives late.
    /// - Throws: An error when the event loops have ended.
    public func lighten(cutting: Bool = false) async throws {
        try await proxy.lighten(cutting: cutting)
    }
}

/// Understands the headers of Kafka's requests, and which request an answer is for.
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

    /// The requests that wait for an answer, by correlation id.
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
