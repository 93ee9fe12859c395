import Hummingbird
import NIOCore
import ServiceLifecycle
import Synchronization
import Testing

@testable import ServiceKit

@Suite(.timeLimit(.minutes(10)))
struct EventStreamTests {
    private let head = "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test func eventsAreWrittenAsTheStandardHasThem() {
        var buffer = ByteBuffer()
        ServerSentEvent(id: "7", name: "queue.changed", data: "{}").write(to: &buffer)
        ServerSentEvent(id: "8\nx", data: "a\nb\u{2028}c\r\n\r").write(to: &buffer)
        ServerSentEvent(id: "9\u{2028}x", data: "a\u{2028}b").write(to: &buffer)
        ServerSentEvent(data: "a\rb").write(to: &buffer)
        #expect(
            String(buffer: buffer)
                == "id: 7\nevent: queue.changed\ndata: {}\n\n"
                + "id: 8x\ndata: a\ndata: b\u{2028}c\ndata: \ndata: \n\n"
                + "id: 9x\ndata: a\u{2028}b\n\ndata: a\ndata: b\n\n"
        )
    }

    @Test func aStreamOutlivesTheIdleTimeoutAndEndsWhenItsProducerDoes() async throws {
        let settings = HTTPSettings(port: 0, idleTimeout: .milliseconds(100))
        let (silences, silence) = AsyncStream.makeStream(of: Void.self)
        let text = try await withServer(settings: settings) { router in
            router.open.get("/stream") { _, context in
                eventStreamResponse(in: context) { writer in
                    try await writer.send(ServerSentEvent(id: "1", data: "first"))
                    for await _ in silences { break }
                    try await writer.send(ServerSentEvent(id: "2", data: "second"))
                }
            }
            router.open.get("/word") { _, _ in "word" }
        } _: { [head] port, _ in
            try await withConnection(to: port, saying: head) { inbound, _ in
                var received = ByteBuffer()
                for try await chunk in inbound {
                    received.writeImmutableBuffer(chunk)
                    let text = String(buffer: received)
                    if text.contains("\r\n0\r\n\r\n") { break }
                    guard text.contains("first"), !text.contains("second") else { continue }
                    // The server closes a connection without a stream that has been silent for less
                    // time than the stream.
                    let word = "GET /word HTTP/1.1\r\nHost: a\r\n\r\n"
                    try await withConnection(to: port, saying: word) { inbound, _ in
                        for try await _ in inbound {}
                    }
                    silence.finish()
                }
                return String(buffer: received)
            }
        }
        let response = WireResponse(text)
        #expect(response.status == 200)
        #expect(response.headers["content-type"] == "text/event-stream")
        #expect(text.contains("id: 1\ndata: first\n\n"))
        #expect(text.contains("id: 2\ndata: second\n\n"))
    }

    @Test(arguments: [true, false])
    func aProducerIsCancelledWhenItsClientDisconnects(byHalf: Bool) async throws {
        let (ends, ended) = AsyncStream.makeStream(of: Bool.self)
        let wasCancelled = try await withServer { router in
            router.open.get("/stream") { _, context in
                eventStreamResponse(in: context) { writer in
                    defer { ended.yield(Task.isCancelled) }
                    try await writer.send(ServerSentEvent(data: "first"))
                    try await Task.sleep(for: .seconds(3600))
                }
            }
        } _: { [head] port, _ in
            try await withConnection(to: port, saying: head) { inbound, outbound in
                for try await chunk in inbound where String(buffer: chunk).contains("first") {
                    guard byHalf else { return }
                    // The client closes its half but still reads, and sees the end of the stream.
                    outbound.finish()
                }
            }
            for await wasCancelled in ends { return wasCancelled }
            return false
        }
        #expect(wasCancelled)
    }

    @Test func shutdownEndsStreamsCleanly() async throws {
        let text = try await withServer { router in
            router.open.get("/stream") { _, context in
                eventStreamResponse(in: context) { writer in
                    try await writer.send(ServerSentEvent(data: "first"))
                    try await Task.sleep(for: .seconds(3600))
                }
            }
        } _: { [head] port, group in
            try await withConnection(to: port, saying: head) { inbound, _ in
                var received = ByteBuffer()
                for try await chunk in inbound {
                    received.writeImmutableBuffer(chunk)
                    if String(buffer: chunk).contains("first") {
                        await group.triggerGracefulShutdown()
                    }
                }
                return String(buffer: received)
            }
        }
        #expect(text.contains("data: first\n\n"))
        #expect(text.hasSuffix("0\r\n\r\n"))
    }
}
