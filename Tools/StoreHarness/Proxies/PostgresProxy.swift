import NIOCore

/// A proxy in front of PostgreSQL that can hold a service's traffic at a statement or a commit.
///
/// Connect through it without TLS: `sslmode=disable&gssencmode=disable`.
public final class PostgresProxy: Sendable {
    /// A point in the life of a connection.
    public enum Point: Sendable, CustomStringConvertible {
        /// The client has sent a statement that contains this text, but the server has not received
        /// it.
        case beforeStatement(containing: String)
        /// The server has run a statement that contains this text, but the client has not received
        /// the response.
        case afterStatement(containing: String)
        /// The client has sent the COMMIT of a database transaction with such a statement, but the
        /// server has not received it.
        case beforeCommit(ofTransactionWith: String)
        /// The server has committed a database transaction with such a statement, but the client
        /// has not received the response.
        case afterCommit(ofTransactionWith: String)

        /// The point as text.
        public var description: String {
            switch self {
            case .beforeStatement(let text): "before a statement with `\(text)`"
            case .afterStatement(let text): "after a statement with `\(text)`"
            case .beforeCommit(let text): "before the commit of `\(text)`"
            case .afterCommit(let text): "after the commit of `\(text)`"
            }
        }
    }

    private let proxy: HoldingProxy<PostgresWireReader>

    /// The port to connect to instead of the server's.
    public var port: Int { proxy.port }

    private init(proxy: HoldingProxy<PostgresWireReader>) { self.proxy = proxy }

    /// Starts a proxy.
    ///
    /// - Parameter serverPort: The server's port on this machine.
    /// - Returns: The proxy.
    /// - Throws: An error if no port is free.
    public static func start(inFrontOf serverPort: Int) async throws -> PostgresProxy {
        let proxy = HoldingProxy<PostgresWireReader>(port: try freePort(), targetPort: serverPort)
        try await proxy.resume()
        return PostgresProxy(proxy: proxy)
    }

    /// Holds traffic at a point.
    ///
    /// - Parameters:
    ///   - point: The point.
    ///   - occurrence: The first occurrence of the point to hold.
    /// - Returns: The hold, which the test waits for and releases.
    public func hold(at point: Point, occurrence: Int = 1) -> Hold {
        proxy.hold("\(point)", occurrence: occurrence) { moment in
            switch (point, moment) {
            case (.beforeStatement(let text), .statement(let sql)): sql.contains(text)
            case (.afterStatement(let text), .completed(let sql)): sql.contains(text)
            case (.beforeCommit(let text), .commit(let sqls)):
                sqls.contains { $0.contains(text) }
            case (.afterCommit(let text), .committed(let sqls)):
                sqls.contains { $0.contains(text) }
            default: false
            }
        }
    }

    /// Begins to count the round trips of database transactions.
    public func count() -> PostgresTally {
        let tally = PostgresTally()
        // It sees every moment and holds none.
        _ = proxy.hold("the count", occurrence: 1) { moment in
            if case .ended(let sqls, let roundTrips) = moment { tally.add(sqls, roundTrips) }
            return false
        }
        return tally
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

/// Reads version 3 of PostgreSQL's protocol as far as statements and their completion.
struct PostgresWireReader: WireReader {
    enum Moment: Sendable {
        case statement(String)
        case completed(String)
        case commit([String])
        case committed([String])
        /// A database transaction with these statements has ended.
        case ended([String], roundTrips: Int)
    }

    private var hasStarted = false
    /// The text of each prepared statement.
    private var prepared: [String: String] = [:]
    /// The statements of the open database transaction.
    private var transaction: [String] = []
    /// The statements that the server has not completed yet; a pipeline has several.
    private var awaited: [String] = []
    /// The times that the client waited for the server in this database transaction.
    private var roundTrips = 0

    mutating func nextMessage(from side: ProxySide, in buffer: inout ByteBuffer) -> ByteBuffer? {
        // Only the first message of a client has no type byte before its length.
        let typeLength = side == .client && !hasStarted ? 0 : 1
        guard
            let length = buffer.getInteger(
                at: buffer.readerIndex + typeLength,
                as: UInt32.self
            ),
            let message = buffer.readSlice(length: typeLength + Int(length))
        else { return nil }
        if typeLength == 0 { hasStarted = true }
        return message
    }

    mutating func moment(of message: ByteBuffer, from side: ProxySide) -> Moment? {
        guard let type = message.getInteger(at: message.readerIndex, as: UInt8.self) else {
            return nil
        }
        switch (side, type) {
        case (.client, UInt8(ascii: "P")):
            let (name, next) = string(in: message, at: message.readerIndex + 5)
            prepared[name] = string(in: message, at: next).text
            return nil
        case (.client, UInt8(ascii: "B")):
            let (_, next) = string(in: message, at: message.readerIndex + 5)
            return begins(prepared[string(in: message, at: next).text] ?? "")
        case (.client, UInt8(ascii: "Q")):
            return begins(string(in: message, at: message.readerIndex + 5).text)
        case (.server, UInt8(ascii: "C")):
            let tag = string(in: message, at: message.readerIndex + 5).text
            let sql = awaited.first ?? ""
            // A simple query of several statements is completed several times.
            if awaited.count > 1 { awaited.removeFirst() }
            return tag == "COMMIT" ? .committed(transaction) : .completed(sql)
        case (.server, UInt8(ascii: "Z")):
            let status = message.getInteger(at: message.readerIndex + 5, as: UInt8.self)
            awaited = []
            roundTrips += 1
            guard status == UInt8(ascii: "I") else { return nil }
            defer {
                transaction = []
                roundTrips = 0
            }
            return .ended(transaction, roundTrips: roundTrips)
        default:
            return nil
        }
    }

    private mutating func begins(_ sql: String) -> Moment {
        awaited.append(sql)
        if sql.uppercased().hasPrefix("COMMIT") { return .commit(transaction) }
        transaction.append(sql)
        return .statement(sql)
    }

    private func string(in message: ByteBuffer, at index: Int) -> (text: String, next: Int) {
        let bytes = message.viewBytes(at: index, length: message.writerIndex - index) ?? .init()
        let text = bytes.prefix { $0 != 0 }
        return (String(decoding: text, as: UTF8.self), index + text.count + 1)
    }
}
