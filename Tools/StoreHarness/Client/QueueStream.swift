import AsyncHTTPClient
public import EventTypes
import Foundation
import NIOCore
import NIOHTTP1
import StoreAPI

/// The account's queue as server-sent events: all unfinished transactions, then changes.
///
/// Each iteration is one connection. It ends when the server or the network closes it. To continue,
/// make another stream with the id of the last event.
public struct QueueStream: AsyncSequence, Sendable {
    /// An event of the stream.
    public struct Element: Sendable {
        /// The id from which to resume.
        public var id: String?
        /// The event's name.
        public var name: String
        /// The raw data of the event.
        public var data: String
        /// The decoded data, if it is a change of the queue.
        public var change: QueueChanged?
        /// The decoded data, if it is a change of the account.
        public var accountChange: QueueAccountChanged?
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
        var parser = ServerSentEventParser()
        for try await bytes in response.body {
            for event in try parser.parse(bytes.readableBytesView) {
                continuation.yield(Element(event))
            }
        }
    }
}

extension QueueStream.Element {
    fileprivate init(_ event: ServerSentEventParser.Event) {
        id = event.id
        name = event.name
        data = String(decoding: event.data, as: UTF8.self)
        // An element is of one of these kinds, and the other is nil.
        change = try? EventCoding.decode(QueueChanged.self, from: event.data)
        accountChange = try? EventCoding.decode(QueueAccountChanged.self, from: event.data)
    }
}
