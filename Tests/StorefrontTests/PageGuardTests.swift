import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import Testing

@testable import storefront

@Suite struct PageGuardTests {
    private func head(
        _ method: HTTPRequest.Method,
        host: String = "127.0.0.1:8085",
        _ fields: HTTPFields = [:]
    ) -> HTTPRequest {
        HTTPRequest(
            method: method,
            scheme: "http",
            authority: host,
            path: "/session",
            headerFields: fields
        )
    }

    private func check(_ head: HTTPRequest) throws {
        try PageGuard.check(head, hosts: ["127.0.0.1:8085", "localhost:8085"])
    }

    @Test func theOwnPageMayPost() throws {
        try check(
            head(.post, [.origin: "http://127.0.0.1:8085", .contentType: "application/json"])
        )
        let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
        try check(
            head(.post, [site: "same-origin", .contentType: "application/json; charset=utf-8"])
        )
    }

    @Test(arguments: ["http://evil.example", "null", "http://localhost:8085", ""])
    func anotherPageMayNot(_ origin: String) {
        #expect(throws: StorefrontProblem.self) {
            try check(head(.post, [.origin: origin, .contentType: "application/json"]))
        }
    }

    @Test(arguments: ["cross-site", "same-site", "none"])
    func whatABrowserCallsForeignMayNot(_ site: String) throws {
        let name = try #require(HTTPField.Name("Sec-Fetch-Site"))
        let head = head(
            .post,
            [name: site, .origin: "http://127.0.0.1:8085", .contentType: "application/json"]
        )
        #expect(throws: StorefrontProblem.self) { try check(head) }
    }

    @Test func aFormOrNoOriginIsRefused() {
        #expect(throws: StorefrontProblem.self) {
            try check(head(.post, [.contentType: "application/json"]))
        }
        #expect(throws: StorefrontProblem.self) {
            try check(head(.post, [.origin: "http://127.0.0.1:8085", .contentType: "text/plain"]))
        }
    }

    @Test func anotherHostIsRefused() {
        #expect(throws: StorefrontProblem.self) { try check(head(.get, host: "evil.example")) }
    }

    @Test func errorsHaveEveryHeaderToo() async throws {
        let router = Router(context: BasicRequestContext.self)
        router.add(
            middleware: PageGuard(hosts: ["localhost"], logger: Logger(label: "test"))
        )
        router.get("/broken") { _, _ -> Response in throw CancelledOrder() }
        router.get("/api/broken") { _, _ -> Response in throw CancelledOrder() }
        try await Application(router: router).test(.router) { client in
            for (path, status) in [("/broken", 500), ("/api/broken", 500), ("/nothing", 404)] {
                let response = try await client.execute(
                    uri: path,
                    method: .get,
                    headers: [:]
                )
                #expect(response.status.code == status)
                for (name, value) in [
                    ("Content-Security-Policy", PageGuard.policy),
                    ("Content-Type", "application/problem+json"),
                    ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                    ("Cross-Origin-Opener-Policy", "same-origin"),
                    ("Cross-Origin-Resource-Policy", "same-origin"),
                    ("Cache-Control", path == "/api/broken" ? "no-store" : "no-cache"),
                ] {
                    let field = try #require(HTTPField.Name(name))
                    #expect(response.headers[field] == value, "\(path): \(name)")
                }
            }
        }
    }

    private struct CancelledOrder: Error {}
}
