import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Postgres
import StoreAPI
import Testing

@testable import ServiceKit

@Suite(.timeLimit(.minutes(10)))
struct HTTPEdgeTests {
    private struct Order: Codable {
        var productID: ProductID
        var quantity: Int
        var price: Money?
    }

    private struct Unreachable: RetriableError { var isRetriable: Bool { true } }
    private struct Unknown: RetriableError {
        var isRetriable: Bool { false }
        var isOutcomeUnknown: Bool { true }
    }
    private struct Secret: Error, CustomStringConvertible { var description = "hunter2" }

    private func routes(_ router: StoreRouter) {
        router.open.get("/ok") { _, _ in try jsonResponse(["a/b": 1], status: .created) }
        router.open.get("/stale") { _, _ -> Response in
            throw HTTPProblem(
                .conflict,
                code: "stale_price",
                title: "The price has changed",
                detail: "It costs more.",
                currentPrice: Money(minorUnits: 199, currency: Currency(unchecked: "USD"))
            )
        }
        router.open.get("/unreachable") { _, _ -> Response in throw Unreachable() }
        router.open.post("/unknown") { _, _ -> Response in throw Unknown() }
        router.open.get("/broken") { _, _ -> Response in throw Secret() }
        router.open.post("/orders") { request, _ in
            try jsonResponse(try await decodeBody(Order.self, from: request))
        }
        router.open.post("/large") { request, _ in
            let body = try await collectBody(of: request, upTo: 200_000)
            return try jsonResponse(["bytes": body.readableBytes])
        }
        router.account.get("/v1/me") { _, context in
            try jsonResponse(["account": try context.requireAccount().accountID.rawValue])
        }
        router.account.post("/v1/me") { _, _ in try jsonResponse(["read": false]) }
        router.admin.get("/v1/admin/me") { _, context in
            try jsonResponse(["name": try context.requireAdministrator().name.rawValue])
        }
        router.admin.get("/v1/admin/store") { _, _ in try jsonResponse(["read": true]) }
        router.admin.get("/v1/admin/forgotten") { _, _ in try jsonResponse(["read": true]) }
    }

    @Test func answersAreJSON() async throws {
        let response = try await withServer(routes: routes) { port, _ in
            try await send("GET", "/ok", to: port)
        }
        #expect(response.status == 201)
        #expect(response.headers["content-type"] == "application/json")
        #expect(response.body == #"{"a/b":1}"#)
    }

    @Test func everyErrorIsAProblem() async throws {
        let expected = [
            "/stale": (409, "stale_price"), "/unreachable": (503, "try_again"),
            "/broken": (500, "internal"), "/nowhere": (404, "not_found"),
            "/v1/me": (401, "unauthorized"), "/v1/admin/me": (401, "unauthorized"),
        ]
        let responses = try await withServer(routes: routes) { port, _ in
            var responses: [String: WireResponse] = [:]
            for path in expected.keys { responses[path] = try await send("GET", path, to: port) }
            return responses
        }
        for (path, (status, code)) in expected {
            let response = try #require(responses[path])
            #expect(response.status == status)
            #expect(response.headers["content-type"] == "application/problem+json")
            let problem = try JSONDecoder().decode(Problem.self, from: Data(response.body.utf8))
            #expect(problem.code == code)
            #expect(problem.status == status)
            #expect(!problem.title.isEmpty && !problem.detail.isEmpty)
        }
        #expect(responses["/stale"]?.body.contains(#""minorUnits":199"#) == true)
        #expect(responses["/unreachable"]?.headers["retry-after"] == "1")
        #expect(responses["/broken"]?.body.contains("hunter2") == false)
        #expect(try responses["/broken"]?.field("incident")?.count == 16)
        #expect(responses["/v1/me"]?.headers["www-authenticate"] == "Bearer")
    }

    @Test func anUnknownOutcomeOfAWriteIsAnsweredAsTryAgain() async throws {
        let answer = try await withServer(routes: routes) { port, _ in
            try await send("POST", "/unknown", to: port)
        }
        #expect(answer.status == 503)
        #expect(try answer.field("code") == "try_again")
        #expect(answer.headers["retry-after"] == "1")
    }

    @Test func everyRequestHasABudgetForTheDatabase() async throws {
        let answer = try await withServer(
            databaseWaitMax: .seconds(7),
            routes: { router in
                router.open.get("/left") { _, _ in
                    try jsonResponse(["left": "\(PostgresWaitBudget.current?.left ?? .zero)"])
                }
            }
        ) { port, _ in
            try await send("GET", "/left", to: port)
        }
        #expect(try answer.field("left") == "\(Duration.seconds(7))")
    }

    @Test func anAdministratorNeedsAScopeOfTheRoute() async throws {
        let keys = try TestKeys()
        var narrowed = keys.adminClaims
        narrowed.scope = "support operator"
        let (whole, part) = (try await keys.adminToken(), try await keys.adminToken(narrowed))
        let answers = try await withServer(keys: keys, routes: routes) { port, _ in
            func get(_ path: String, _ token: String) async throws -> WireResponse {
                try await send(
                    "GET",
                    path,
                    headers: ["Authorization": "Bearer \(token)"],
                    to: port
                )
            }
            return [
                try await get("/v1/admin/me", whole), try await get("/v1/admin/me", part),
                try await get("/v1/admin/store", whole),
                // A route that the table has forgotten opens for nobody.
                try await get("/v1/admin/forgotten", whole),
            ]
        }
        #expect(answers.map(\.status) == [200, 403, 403, 500])
        #expect(try answers[1].field("code") == "scope_missing")
        #expect(
            try answers[1].field("detail")
                == "This needs the scope read. The token of grace has support."
        )
        #expect(
            try answers[2].field("detail")
                == "This needs the scope merchandiser or operator. The token of grace has read, "
                + "support."
        )
    }

    @Test func tokensOpenTheirOwnRoutes() async throws {
        let keys = try TestKeys()
        let account = "Bearer \(try await keys.accountToken())"
        let admin = "bearer \(try await keys.adminToken())"
        let answers = try await withServer(keys: keys, routes: routes) { port, _ in
            func get(_ path: String, _ authorization: String) async throws -> WireResponse {
                try await send("GET", path, headers: ["Authorization": authorization], to: port)
            }
            return [
                try await get("/v1/me", account), try await get("/v1/admin/me", admin),
                try await get("/v1/me", admin), try await get("/v1/admin/me", account),
                try await get("/v1/me", "Basic YTpi"),
            ]
        }
        #expect(answers.map(\.status) == [200, 200, 401, 401, 401])
        #expect(answers[0].body == #"{"account":"alice"}"#)
        #expect(answers[1].body == #"{"name":"grace"}"#)
        #expect(try answers[4].field("detail") == "The Authorization header is not Bearer <token>.")
    }

    @Test func malformedBodiesAreExplained() async throws {
        let expected = [
            #"{"productID":"a","quantity":1}"#: nil,
            #"{"quantity":1}"#: "Field productID is missing.",
            #"{"productID":"a","quantity":"1"}"#: "Field quantity is not a whole number.",
            #"{"productID":"a","quantity":null}"#:
                "Field quantity is null; expected a whole number.",
            #"{"productID":7,"quantity":1}"#: "Field productID is not a text.",
            #"{"productID":"a b","quantity":1}"#: "Field productID: expected \(ProductID.form)",
            #"{"productID":"a","quantity":1,"price":{"minorUnits":1}}"#:
                "Field price.currency is missing.",
            #"[]"#: "The document is not an object.",
            #"{"productID":"a","quantity":1,"note":"\u0000"}"#:
                #"A text contains the character U+0000 (\u0000), which is not allowed."#,
            #"{"productID":"a","quantity":1,"note":"\\u0000"}"#: nil,
            "": "The body is empty; expected a JSON document.",
        ]
        let answers = try await withServer(routes: routes) { port, _ in
            var answers: [String: WireResponse] = [:]
            for body in expected.keys {
                answers[body] = try await send(
                    "POST",
                    "/orders",
                    headers: ["Content-Type": "application/json; charset=utf-8"],
                    body: body,
                    to: port
                )
            }
            return answers
        }
        for (body, detail) in expected {
            let answer = try #require(answers[body])
            #expect(answer.status == (detail == nil ? 200 : 400), "\(body)")
            if let detail {
                #expect(try answer.field("code") == "malformed_json")
                #expect(try answer.field("detail") == detail)
            }
        }
    }

    @Test func whatIsNotJSONIsPointedAtAndNotRepeated() async throws {
        let long = String(repeating: "x", count: 20_000)
        let bodies = [
            #"{"productID":"a","quantity":}"#, "{\"productID\":\"\(long)\",\"quantity\":1}",
            "{\"productID\":\"a\",\"quantity\":\(String(repeating: "9", count: 5000))}",
            "{\"productID\":\"a\",\"quantity\":1,\"price\":{\"\(long)\":1}}", long,
        ]
        let answers = try await withServer(routes: routes) { port, _ in
            var answers: [WireResponse] = []
            for body in bodies {
                answers.append(
                    try await send(
                        "POST",
                        "/orders",
                        headers: ["Content-Type": "application/json"],
                        body: body,
                        to: port
                    )
                )
            }
            return answers
        }
        for answer in answers {
            #expect(answer.status == 400)
            #expect(answer.body.utf8.count < 400)
        }
        let detail = try #require(try answers[0].field("detail"))
        #expect(detail.hasPrefix("The body is not JSON: "))
        #expect(detail.contains("character 28"))
    }

    @Test func anotherContentTypeIsRefused() async throws {
        let answers = try await withServer(routes: routes) { port, _ in
            [
                try await send("POST", "/orders", body: "{}", to: port),
                try await send(
                    "POST",
                    "/orders",
                    headers: ["Content-Type": "text/plain"],
                    body: "{}",
                    to: port
                ),
            ]
        }
        #expect(answers.map(\.status) == [415, 415])
        #expect(try answers[1].field("detail")?.contains("\"text/plain\"") == true)
    }

    @Test func anOversizedBodyIsRefused() async throws {
        let body = String(repeating: " ", count: 65_537)
        let answers = try await withServer(routes: routes) { port, _ in
            [
                try await send(
                    "POST",
                    "/orders",
                    headers: ["Content-Type": "application/json"],
                    body: body,
                    to: port
                ),
                try await send("POST", "/large", body: body, to: port),
            ]
        }
        #expect(answers.map(\.status) == [413, 200])
        #expect(try answers[0].field("code") == "body_too_large")
        #expect(answers[1].body == #"{"bytes":65537}"#)
    }

    @Test func aHugeBodyIsRefusedUnread() async throws {
        let status = try await withServer(routes: routes) { port, _ in
            let head = "POST /v1/me HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n"
            return try await withConnection(to: port, saying: head) { inbound, _ in
                var received = ByteBuffer()
                for try await chunk in inbound { received.writeImmutableBuffer(chunk) }
                return WireResponse(String(buffer: received))
            }
        }
        #expect(status.status == 401)
        #expect(status.headers["connection"] == "close")
    }

    @Test func headersHaveABound() async throws {
        let answer = try await withServer(routes: routes) { port, _ in
            let long = String(repeating: "x", count: 40_000)
            return try await send("GET", "/ok", headers: ["X-Long": long], to: port)
        }
        #expect(answer.status == 400)
    }

    @Test func aConnectionThatSaysNothingIsClosed() async throws {
        let settings = HTTPSettings(port: 0, idleTimeout: .milliseconds(200))
        let count = try await withServer(settings: settings, routes: routes) { port, _ in
            try await withConnection(to: port, saying: "GET /ok HTTP/1.1\r\n") { inbound, _ in
                var count = 0
                for try await chunk in inbound { count += chunk.readableBytes }
                return count
            }
        }
        #expect(count == 0)
    }

    @Test(arguments: ["HTTP/1.0\r\n", "HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n"])
    func whoReadsToTheEndOfTheConnectionGetsThere(head: String) async throws {
        let answer = try await withServer(routes: routes) { port, _ in
            try await withConnection(to: port, saying: "GET /ok \(head)\r\n") { inbound, _ in
                var received = ByteBuffer()
                for try await chunk in inbound { received.writeImmutableBuffer(chunk) }
                return WireResponse(String(buffer: received))
            }
        }
        #expect(answer.status == 201)
        #expect(answer.body == #"{"a/b":1}"#)
    }
}
