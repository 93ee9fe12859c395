import AsyncHTTPClient
public import EventTypes
import Foundation
import NIOCore
import NIOHTTP1

/// The account's queue as server-sent events: all unfinished transactions, then changes.
///
/// Each iteration is one connection; it ends when the server or the network ends it. To go on,
/// make another stream with the last event's id.
public struct QueueStream: AsyncSequence, Sendable {
    /// One event of the stream.
    public struct Element: Sendable {
        /// The id to resume from.
        public var id: String?
        /// The event's name.
        public var name: String
        /// Its data as it came.
        public var data: String
        /// What it says, when it is a change of the queue.
        public var change: QueueChanged?
    }

    let url: String
    let token: String
    let lastEventID: String?

    /// Connects at the first `next()`.
    public func makeAsyncIterator() -> AsyncThrowingStream<Element, any Error>.Iterator {
        AsyncThrowingStream<Element, any Error> { continuation in
            let task = Task {
                do {
                    try await read(into: continuation)
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
        .makeAsyncIterator()
    }

    private func read(
        into continuation: AsyncThrowingStream<Element, any Error>.Continuation
    ) async throws {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "authorization", value: "Bearer \(token)")
        request.headers.add(name: "accept", value: "text/event-stream")
        if let lastEventID {
            request.headers.add(name: "last-event-id", value: lastEventID)
        }
        let response = try await StoreHTTP.client.execute(request, timeout: .hours(12))
        guard response.status == .ok else {
            let body = try await response.body.collect(upTo: 1 << 16)
            throw HarnessError("The queue refused: \(response.status) \(String(buffer: body))")
        }
        var parser = ServerSentEvents()
        for try await bytes in response.body {
            for event in parser.parse(bytes) {
                continuation.yield(event)
            }
        }
    }
}

/// Parses `text/event-stream`; only line feeds end lines, as the store writes them.
struct ServerSentEvents {
    private var line: [UInt8] = []
    private var id: String?
    private var name = "message"
    private var data: [String] = []

    mutating func parse(_ bytes: ByteBuffer) -> [QueueStream.Element] {
        var events: [QueueStream.Element] = []
        for byte in bytes.readableBytesView {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            if let event = endLine() { events.append(event) }
        }
        return events
    }

    private mutating func endLine() -> QueueStream.Element? {
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        let text = String(decoding: line, as: UTF8.self)
        line.removeAll(keepingCapacity: true)
        guard !text.isEmpty else { return endEvent() }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count > 1 ? String(parts[1]) : ""
        if value.first == " " { value.removeFirst() }
        switch parts[0] {
        case "id": id = value
        case "event": name = value
        case "data": data.append(value)
        default: break  // A comment (the heartbeat) or a field that is not ours.
        }
        return nil
    }

    private mutating func endEvent() -> QueueStream.Element? {
        defer {
            name = "message"
            data = []
        }
        guard !data.isEmpty else { return nil }
        let text = data.joined(separator: "\n")
        let change = try? JSONDecoder().decode(QueueChanged.self, from: Data(text.utf8))
        return QueueStream.Element(id: id, name: name, data: text, change: change)
    }
}
