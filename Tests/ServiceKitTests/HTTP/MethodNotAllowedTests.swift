import EventTypes
import Foundation
import Hummingbird
import StoreAPI
import Testing

@testable import ServiceKit

@Suite(.timeLimit(.minutes(10)))
struct MethodNotAllowedTests {
    private func routes(_ router: StoreRouter) {
        router.open.get("/things/:id") { _, _ in try jsonResponse(["thing": 1]) }
        router.open.delete("/things/:id") { _, _ in try jsonResponse(["thing": 0]) }
        router.open.post("/things/all") { _, _ in try jsonResponse(["things": 2]) }
        router.open.get("/files/**") { _, _ in try jsonResponse(["file": 1]) }
        router.account.post("/v1/me") { _, _ in try jsonResponse(["me": 1]) }
    }

    @Test(arguments: [
        ("PUT", "/things/7", "DELETE, GET, HEAD"), ("GET", "/things/all", "POST"),
        ("DELETE", "/files/a/b", "GET, HEAD"), ("GET", "/v1/me", "POST"),
        ("TRACE", "/v1/me", "POST"),
    ])
    func aMethodThatAPathDoesNotHaveIsAnsweredWithThoseThatItHas(
        method: String,
        path: String,
        allowed: String
    ) async throws {
        let response = try await withServer(routes: routes) { port, _ in
            try await send(method, path, to: port)
        }
        #expect(response.status == 405)
        #expect(response.headers["allow"] == allowed)
        #expect(response.headers["content-type"] == "application/problem+json")
        let problem = try JSONDecoder().decode(Problem.self, from: Data(response.body.utf8))
        #expect(problem.code == "method_not_allowed")
    }

    @Test(arguments: ["/things", "/things/7/8", "/files", "/", "/v1"])
    func aPathThatThereIsNotIsNotFound(path: String) async throws {
        let response = try await withServer(routes: routes) { port, _ in
            try await send("PUT", path, to: port)
        }
        #expect(response.status == 404 && response.headers["allow"] == nil)
    }
}
