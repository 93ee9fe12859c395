import EventTypes
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import Synchronization
import TestSupport

@testable import Fulfillment

/// A merchant's endpoint on a real socket.
final class Merchant: Sendable {
    struct Request {
        var id: String
        var timestamp: String
        var signature: String
        var body: [UInt8]
    }

    private struct State {
        var received: [Request] = []
        var answer: @Sendable (Int) -> HTTPResponse.Status? = { _ in .ok }
        var port = 0
    }

    private let state = Mutex(State())

    var received: [Request] { state.withLock { $0.received } }
    var url: String { "http://127.0.0.1:\(state.withLock { $0.port })/hooks" }
    var target: DeliveryTarget { .webhook(url: url) }

    /// Sets the answer to each request by the number of requests before it.
    ///
    /// With `nil` there is no answer.
    func answer(_ answer: @escaping @Sendable (Int) -> HTTPResponse.Status?) {
        state.withLock { $0.answer = answer }
    }

    static func run(_ body: @escaping @Sendable (Merchant) async throws -> Void) async throws {
        let merchant = Merchant()
        let router = Router()
        router.post("/hooks") { request, _ in try await merchant.receive(request) }
        let (ports, port) = AsyncStream<Int>.makeStream()
        let server = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
            logger: quiet
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            for await port in ports {
                merchant.state.withLock { $0.port = port }
                try await body(merchant)
                break
            }
            group.cancelAll()
        }
    }

    private func receive(_ request: Hummingbird.Request) async throws -> Response {
        func header(_ name: String) -> String {
            HTTPField.Name(name).flatMap { request.headers[$0] } ?? ""
        }
        let body = try await request.body.collect(upTo: 1 << 20)
        let received = Request(
            id: header("webhook-id"),
            timestamp: header("webhook-timestamp"),
            signature: header("webhook-signature"),
            body: Array(body.readableBytesView)
        )
        let status = state.withLock { state in
            state.received.append(received)
            return state.answer(state.received.count - 1)
        }
        if status == .accepted {
            // Begins an answer that does not end before the test is over.
            return Response(
                status: .accepted,
                body: .init { writer in
                    try await writer.write(ByteBuffer(string: "…"))
                    try await Task.sleep(for: .seconds(3600))
                    try await writer.finish(nil)
                }
            )
        }
        guard let status else {
            // Delays the request until the test is over.
            try await Task.sleep(for: .seconds(3600))
            return Response(status: .ok)
        }
        return Response(status: status, headers: [.location: url])
    }
}

func withMerchant(
    _ body: @escaping @Sendable (Merchant, FulfillmentDatabase) async throws -> Void
) async throws {
    try await withFulfillment { store in
        try await Merchant.run { merchant in try await body(merchant, store) }
    }
}
