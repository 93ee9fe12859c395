import Hummingbird
import NIOCore
import StoreAPI
import Testing

@testable import ServiceKit

/// Requests that two servers could read differently.
@Suite(.timeLimit(.minutes(10)))
struct AmbiguousRequestTests {
    private func routes(_ router: StoreRouter) {
        router.open.get("/ok") { _, _ in try jsonResponse(["a": 1]) }
        router.open.post("/numbers") { request, _ in
            try jsonResponse(try await decodeBody([String: Int].self, from: request))
        }
    }

    private func answer(to text: String) async throws -> WireResponse {
        try await withServer(routes: routes) { port, _ in
            try await withConnection(to: port, saying: text) { inbound, _ in
                var received = ByteBuffer()
                for try await chunk in inbound { received.writeImmutableBuffer(chunk) }
                return WireResponse(String(buffer: received))
            }
        }
    }

    private func post(_ body: String, _ headers: [String: String] = [:]) async throws
        -> WireResponse
    {
        let headers = headers.merging(["Content-Type": "application/json"]) { own, _ in own }
        return try await withServer(routes: routes) { port, _ in
            try await send("POST", "/numbers", headers: headers, body: body, to: port)
        }
    }

    @Test(
        arguments: [
            (#"{"a":1,"a":2}"#, "An object has two members of the name \"a\"."),
            ("\u{0}{\u{0}}", "The body is not UTF-8."),
            (#"{"a":1e-400}"#, "The number 1e-400 has more digits than can be represented."),
        ]
    )
    func anAmbiguousBodyIsRefused(body: String, detail: String) async throws {
        let answer = try await post(body)
        #expect(answer.status == 400)
        #expect(try answer.field("code") == "malformed_json")
        #expect(try answer.field("detail") == detail)
    }

    @Test func anEncodedBodyIsRefused() async throws {
        let refused = try await post(#"{"a":1}"#, ["Content-Encoding": "gzip"])
        #expect(refused.status == 415)
        #expect(try refused.field("code") == "unsupported_content_encoding")
        #expect(refused.headers["accept-encoding"] == "identity")
        let taken = try await post(#"{"a":1}"#, ["Content-Encoding": "Identity"])
        #expect(taken.status == 200)
    }

    @Test(arguments: ["", "Host: a\r\nHost: b\r\n", "Host: a\r\nhost: a\r\n"])
    func aRequestHasExactlyOneHost(hosts: String) async throws {
        let answer = try await answer(to: "GET /ok HTTP/1.1\r\n\(hosts)Connection: close\r\n\r\n")
        #expect(answer.status == 400)
        #expect(answer.headers["content-type"] == "application/problem+json")
        #expect(try answer.field("code") == "host_invalid")
    }

    @Test(arguments: [
        "HTTP/1.0\r\n", "HTTP/1.0\r\nHost: a\r\n", "HTTP/1.1\r\nHost:\r\nConnection: close\r\n",
    ])
    func anOldRequestNeedsNoHost(head: String) async throws {
        #expect(try await answer(to: "GET /ok \(head)\r\n").status == 200)
    }

    @Test func aHeadThatCannotBeReadIsAProblem() async throws {
        let long = String(repeating: "x", count: 40_000)
        let heads = ["GET /ok HTTP/1.1\r\nHost: a\r\nX-Long: \(long)\r\n\r\n", "nonsense\r\n\r\n"]
        for head in heads {
            let answer = try await answer(to: head)
            #expect(answer.status == 400)
            #expect(answer.headers["content-type"] == "application/problem+json")
            #expect(answer.headers["content-length"] == "\(answer.body.utf8.count)")
            #expect(try answer.field("code") == "malformed_request")
        }
    }

    @Test func theRequestBeforeAnUnreadableHeadIsAnswered() async throws {
        let text = "GET /ok HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n"
        let answer = try await answer(to: text)
        #expect(answer.status == 200)
        #expect(answer.body.hasPrefix(#"{"a":1}HTTP/1.1 400 Bad Request"#))
        #expect(answer.body.hasSuffix("}"))
    }
}
