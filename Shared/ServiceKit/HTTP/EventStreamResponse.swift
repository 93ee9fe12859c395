import HTTPTypes
public import Hummingbird
import NIOCore
import ServiceLifecycle

/// One event of a stream of server-sent events.
public struct ServerSentEvent: Hashable, Sendable {
    /// What a client resumes from (`Last-Event-ID`).
    public var id: String?
    /// The event's name; `message` to a client if there is none.
    public var name: String?
    /// The data; each of its lines is sent as one `data:` line.
    public var data: String

    /// Makes an event.
    public init(id: String? = nil, name: String? = nil, data: String) {
        self.id = id
        self.name = name
        self.data = data
    }

    /// Appends the event as it stands on the wire.
    func write(to buffer: inout ByteBuffer) {
        if let id { buffer.writeString("id: \(Self.oneLine(id))\n") }
        if let name { buffer.writeString("event: \(Self.oneLine(name))\n") }
        // Only CR, LF and the two together end a line of the stream; Unicode's other line separators
        // may stand in a JSON string and have to arrive in it.
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

    private static func oneLine(_ text: String) -> String {
        text.contains(where: \.isNewline) ? String(text.filter { !$0.isNewline }) : text
    }
}

/// Writes the events of one stream.
///
/// Each call returns once the client's connection has taken the bytes, so that a slow client slows
/// its own stream and needs no memory.
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

    /// Sends a comment, which clients ignore: a heartbeat that keeps proxies from closing the
    /// stream.
    public func sendHeartbeat() async throws {
        try await box.write(Self.heartbeat)
    }

    private static let heartbeat = ByteBuffer(string: ":\n\n")
}

/// Answers a request with a stream of server-sent events.
///
/// `produce` runs in a task of its own that is cancelled when the client disconnects, when the
/// service shuts down, and (through the connection's TCP timeout) when the client stops reading for
/// half a minute. Idle timeouts do not apply while it runs. When it returns the stream ends.
///
/// Thousands of streams are open at once, and each task of one costs kilobytes. So there is that one
/// beside the connection's own: nobody waits for the end of the request's bytes or for the shutdown;
/// both are told by handlers.
///
/// - Parameters:
///   - context: Of the request; its body is not read.
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
        // Before anything is sent: a client that has what it wants may leave at once.
        closeWhenClientLeaves(channel)
        let producing = Task {
            // The head goes out at once, also if the first event takes its time.
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
            // The client has gone or the service shuts down: the stream ends like any other.
        }
        if Task.isShuttingDownGracefully {
            // Spread over a second, so that not all clients come back at once.
            let pause = Int.random(in: 500...1500)
            try await writer.write(ByteBuffer(string: "retry: \(pause)\n\n"))
        }
        try await writer.finish(nil)
    }
    return Response(status: .ok, headers: headers, body: body)
}

/// A body that is written until it is whole or the service shuts down, whichever comes first.
///
/// `produce` runs in a task of its own, which a shutdown cancels: neither a source that says nothing
/// nor a client that reads nothing holds a shutdown up. What is cut off so ends the connection, so a
/// client that knows the length sees that something is missing.
///
/// - Parameters:
///   - contentLength: How many bytes it has.
///   - produce: Writes them; each call returns once the client's connection has taken them.
/// - Returns: The body.
public func bodyUntilShutdown(
    contentLength: Int,
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

/// Closes a stream's connection as soon as its client closes it, be it only its own half: it has
/// nothing more to ask, and what it no longer reads need not be kept for it.
private func closeWhenClientLeaves(_ channel: any Channel) {
    // The server lets a client close its half and still answers it, which is right for requests.
    // A connection that has closed already cannot be told, and needs not be.
    channel.setOption(.allowRemoteHalfClosure, value: false).whenFailure { _ in }
}

/// Carries the connection's writer into the task that produces the events.
///
/// `@unchecked`: the writer is used by that task alone until it has ended, and its only form on a
/// server, a value around a channel's writer, is itself safe to use from any task.
private final class WriterBox: @unchecked Sendable {
    private var writer: any ResponseBodyWriter

    init(writer: any ResponseBodyWriter) { self.writer = writer }

    func write(_ buffer: ByteBuffer) async throws { try await writer.write(buffer) }
}
