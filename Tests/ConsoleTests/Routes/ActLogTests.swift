import HTTPTypes
import HummingbirdTesting
import NIOCore
import TestSupport
import Testing

@testable import Console

@Suite(.timeLimit(.minutes(10)))
struct ActLogTests {
    private static let traceID = "4bf92f3577b34da6a3ce929d0e0e4736"

    /// The headers of a form that a browser sends within a trace.
    private static let traced = [
        "Sec-Fetch-Site": "same-origin", "Accept": "text/html",
        "traceparent": "00-\(traceID)-00f067aa0ba902b7-01",
    ]

    @Test func theLogOfAnActHasItsTraceAndNothingSecret() async throws {
        let log = RecordedLog()
        // The answer to the first act is lost.
        let store = StandInStore(losing: 1)
        try await store.run { urls in
            try await ConsoleUnderTest.run(isWhole: true, urls: urls, logger: log.logger) {
                console in
                let token = try await console.token()
                let issued = String(buffer: try await console.ticket(token).body)
                let ticket = try #require(issued.firstMatch(of: /#ticket=([0-9a-f]+)/)?.1)
                // It opens one session, and is refused after that.
                for _ in 1...2 {
                    _ = try await console.send(.post, "/session", form: "ticket=\(ticket)")
                }
                let (cookie, csrf) = try await console.signIn()
                for act in ["webhooks", "approval"] {
                    _ = try await console.send(
                        .post,
                        "/purchases/\(StandInStore.id)/\(act)",
                        cookie: cookie,
                        form: "decision=decline&reason=a+private+word&csrf=\(csrf)",
                        Self.traced
                    )
                }
                // The databases are away, which is logged with the path alone.
                _ = try await console.send(.get, "/search?q=private-query", cookie: cookie)
                let acts = log.lines.filter { $0.contains("act.subject") }
                #expect(acts.count == 2)
                #expect(acts.first?.hasPrefix("the answer to an act was lost") == true)
                #expect(acts.last?.hasPrefix("an administrator acted") == true)
                for line in acts {
                    for part in [Self.traceID, "maria", "\(StandInStore.id)"] {
                        #expect(line.contains(part), "\(part)")
                    }
                }
                let traces = store.acts.map { $0.trace ?? "none" }
                #expect(traces.count == 2)
                for trace in traces { #expect(trace.hasPrefix("00-\(Self.traceID)-")) }
                #expect(log.lines.contains { $0.contains("/search") })
                let secrets = [
                    token, "eyJ", String(ticket), cookie, csrf, "private word", "private-query",
                ]
                for line in log.lines {
                    for secret in secrets { #expect(!line.contains(secret), "\(line)") }
                }
            }
        }
    }
}
