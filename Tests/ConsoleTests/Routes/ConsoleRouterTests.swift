import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import StoreAPI
import TestSupport
import Testing

@testable import Console

@Suite(.timeLimit(.minutes(10)))
struct ConsoleRouterTests {
    private struct Unexpected: Error, CustomStringConvertible {
        var description: String { "a private detail" }
    }

    @Test func anErrorThatNobodyExpectsIsAPageWithAllHeaders() async throws {
        let log = RecordedLog()
        let origin = try #require(ConsoleOrigin("http://localhost"))
        let pages = ConsoleRouter(origin: origin, logger: log.logger, visitor: { _ in nil }) {
            routes in
            routes.get("/fails") { _, _ -> Response in throw Unexpected() }
        }
        try await Application(router: pages.router).test(.router) { client in
            let answer = try await client.executeRequest(
                uri: "/fails",
                method: .get,
                headers: [.accept: "text/html"],
                body: nil
            )
            #expect(answer.status == .internalServerError)
            for field in PageHeaders.all(isSecure: false) {
                #expect(answer.headers[field.name] == field.value, "\(field.name)")
            }
            let page = String(buffer: answer.body)
            #expect(page.contains("The console failed") && page.contains("Its log says why"))
            #expect(!page.contains("private detail") && !page.contains("Unexpected"))
            // Another try may fail the same way, and is nobody's but the reader's.
            #expect(!page.contains("data-retry"))
        }
        let lines = log.lines.filter { $0.contains("private detail") }
        #expect(lines.count == 1 && lines.first?.contains("/fails") == true)
    }

    @Test func aRefusalKeepsTheNavigationOfWhoIsSignedIn() async throws {
        try await ConsoleUnderTest.run(scopes: [.read]) { console in
            let (cookie, csrf) = try await console.signIn()
            let refused = try await console.send(
                .post,
                "/purchases/1000001/approval",
                cookie: cookie,
                form: "decision=approve&reason=x&csrf=\(csrf)"
            )
            let unknown = try await console.send(.get, "/nowhere", cookie: cookie)
            for (answer, status) in [(refused, 403), (unknown, 404)] {
                #expect(answer.status.code == status)
                let page = String(buffer: answer.body)
                for part in ["aria-label=\"Pages\"", "maria", "Sign out", "id=\"q\""] {
                    #expect(page.contains(part), "\(status): \(part)")
                }
                #expect(!page.contains("data-retry"), "another try would be refused, too")
            }
            let stranger = String(buffer: try await console.send(.get, "/nowhere").body)
            #expect(!stranger.contains("aria-label=\"Pages\""))
            #expect(!stranger.contains("csrf"))
        }
    }
}
