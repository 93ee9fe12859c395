import HTTPTypes
public import Hummingbird
import NIOCore
import ServiceLifecycle

/// One event of a stream of server-sent events.
public struct ServerSentEvent: Hashable, Sendable {
    /// The id from which a client resumes (`Last-Event-ID`).
    public var id: String?
    /// The event's name.
    ///
    /// Without one, clients treat it as `message`.
    public var name: String?
    /// The data; each of its lines is sent as one `data:` line.
    public var data: String

    /// Makes an event.
    public init(id: String? = nil, name: String? = nil, data: String) {
        self.id = id
        self.name = name
        self.data = data
    }

    /// Appends the event in its wire format.
    func write(to buffer: inout ByteBuffer) {
        buffer.reserveCapacity(minimumWritableBytes: data.utf8.count + 64)
        if let id { buffer.writeString("id: \(Self.oneLine(id))\n") }
        if let name { buffer.writeString("event: \(Self.oneLine(name))\n") }
        // The store's own JSON is one line.
        if Self.isOneLine(data) {
            buffer.writeString("data: ")
            buffer.writeString(data)
            buffer.writeString("\n\n")
        } else {
            writeLines(to: &buffer)
        }
    }

    /// Appends the lines of the data, and the empty line that ends an event.
    private func writeLines(to buffer: inout ByteBuffer) {
        // Only CR, LF and CRLF end a line of the stream. Unicode's other line separators may occur
        // in a JSON string and must be kept.
        var rest = data.utf8[...]
        while true {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            buffer.writeString("data: ")
            buffer.writeBytes(line)
            buffer.writeString("\n")
            rest = rest[line.endIndex...]
            guard let end = rest.popFirst() else { break }
            if end == UInt8(ascii: "\r"), rest.first == UInt8(ascii: "\n") { rest.removeFirst() }
        }
        buffer.writeString("\n")
    }

    /// Whether a text is known to have no CR and no LF.
    private static func isOneLine(_ text: String) -> Bool {
        let isOneLine = text.utf8.withContiguousStorageIfAvailable { bytes in
            !bytes.contains { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        }
        return isOneLine ?? false
    }

    private static func oneLine(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) { return text }
        return text.contains(where: \.isNewline) ? String(text.filter { !$0.isNewline }) : text
    }
}

/// Writes the events of one stream.
///
/// Each call returns once the client's connection has taken the bytes. A slow client therefore
/// slows down its own stream and needs no further memory.
public struct EventStreamWriter: Sendable {
    private let box: WriterBox

    fileprivate init(_ box: WriterBox) { self.box = box }

    /// Sends an event.
    public func send(_ event: ServerSentEvent) async throws {
        try await send([event])
    }

    /// Sends several events with one write.
    public func send(_ events: some Sequence<ServerSentEvent>) async throws {
        var buffer = ByteBuffer()
        for event in events { event.write(to: &buffer) }
        guard buffer.readableBytes > 0 else { return }
        try await box.write(buffer)
    }

    /// Sends a comment as a heartbeat, so that proxies do not close the stream; clients ignore it.
    public func sendHeartbeat() async throws {
        try await box.write(Self.heartbeat)
    }

    private static let heartbeat = ByteBuffer(string: ":\n\n")
}

/// Answers a request with a stream of server-sent events.
///
/// `produce` runs in a task of its own. The task is cancelled when the client disconnects, when the
/// service shuts down, and (through the connection's TCP timeout) when the client does not read for
/// half a minute. Idle timeouts do not apply while it runs. When it returns, the stream ends.
///
/// Thousands of streams are open at once, and each task of a stream costs kilobytes. A stream
/// therefore has only this task and that of its connection. No further task waits for the end of
/// the request's body or for the shutdown; handlers report both.
///
/// - Parameters:
///   - context: The context of the request, whose body is not read.
///   - headers: Further headers.
///   - produce: Sends the events.
/// - Returns: The response, whose body is written while `produce` runs.
public func eventStreamResponse(
    in context: StoreRequestContext,
    headers: HTTPFields = [:],
    _ produce: @escaping @Sendable (EventStreamWriter) async throws -> Void
) -> Response {
    var headers = headers
    headers[.contentType] = "text/event-stream"
    headers[.cacheControl] = "no-store"
    let channel = context.channel
    let body = ResponseBody { writer in
        let box = WriterBox(writer: writer)
        // This comes before any bytes are sent, because a client may leave as soon as it has read
        // enough.
        closeWhenClientLeaves(channel)
        let producing = Task {
            // The head is sent at once, even if the first event takes a while.
            let writer = EventStreamWriter(box)
            try await writer.sendHeartbeat()
            try await produce(writer)
        }
        channel.closeFuture.whenComplete { _ in producing.cancel() }
        do {
            try await withTaskCancellationOrGracefulShutdownHandler {
                try await producing.value
            } onCancelOrGracefulShutdown: {
                producing.cancel()
            }
        } catch is CancellationError {
            // The client has disconnected or the service shuts down: the stream ends normally.
        }
        if Task.isShuttingDownGracefully {
            // The pauses are spread over a second, so that the clients do not all reconnect at
            // once.
            let pause = Int.random(in: 500...1500)
            try await writer.write(ByteBuffer(string: "retry: \(pause)\n\n"))
        }
        try await writer.finish(nil)
    }
    return Response(status: .ok, headers: headers, body: body)
}

/// A body that is written until it is complete or the service shuts down.
///
/// `produce` runs in a task of its own, which a shutdown cancels. Neither a source without data nor
/// a client that does not read can delay a shutdown. If the body is cut short, the connection is
/// closed. A client notices that something is missing, by the length or by the last chunk.
///
/// - Parameters:
///   - contentLength: The body's length in bytes; `nil` if it is sent in chunks.
///   - produce: Writes the bytes; each call returns once the client's connection has taken them.
/// - Returns: The body.
public func bodyUntilShutdown(
    contentLength: Int? = nil,
    _ produce:
        @escaping @Sendable (
            _ write: @escaping @Sendable (ByteBuffer) async throws -> Void
        ) async throws -> Void
) -> ResponseBody {
    ResponseBody(contentLength: contentLength) { writer in
        let box = WriterBox(writer: writer)
        let producing = Task { try await produce { try await box.write($0) } }
        try await withTaskCancellationOrGracefulShutdownHandler {
            try await producing.value
        } onCancelOrGracefulShutdown: {
            producing.cancel()
        }
        try await writer.finish(nil)
    }
}

/// Closes a stream's connection as soon as its client closes it, even if it closes only its own
/// half.
///
/// The client has nothing more to ask, and data that it will not read need not be kept.
private func closeWhenClientLeaves(_ channel: any Channel) {
    // The server still answers a client that has closed its half, which is right for ordinary
    // requests. Setting the option fails only on a closed connection, which does not need it.
    channel.setOption(.allowRemoteHalfClosure, value: false).whenFailure { _ in }
}

/// Carries the connection's writer into the task that produces the events.
private final class WriterBox:
    @unchecked Sendable  // Only that task writes, and `finish` comes after its end.
{
    private var writer: any ResponseBodyWriter

    init(writer: any ResponseBodyWriter) { self.writer = writer }

    func write(_ buffer: ByteBuffer) async throws { try await writer.write(buffer) }
}
