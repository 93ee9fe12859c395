import NIOHTTP1
import StoreAPI
import TestSupport
import Testing

@testable import Catalog

/// Changes whose commit is not answered.
@Suite(.timeLimit(.minutes(10))) struct UnknownOutcomeTests {
    @Test func aChangeOfUnknownOutcomeIsSentAgainAndMadeOnce() async throws {
        try await withCatalog { catalog in
            let cluster = catalog.database.cluster
            let proxy = try await PostgresProxy.start(inFrontOf: cluster.port)
            let url = cluster.url(
                database: catalog.database.name,
                role: "counterfoil_catalog",
                proxyPort: proxy.port
            )
            try await withReplica(of: catalog.database, at: url, keys: catalog.keys) { replica in
                try await waitUntilLoaded(replica)
                let hold = proxy.hold(at: .afterCommit(ofTransactionWith: "INTO product_versions"))
                let asked = Task { try await replica.put() }
                try await hold.reached()
                await proxy.cut()
                let lost = try await asked.value
                hold.release()
                #expect(lost.status == 503)
                let problem = try lost.decode(Problem.self)
                #expect(problem.code == "try_again")
                #expect(problem.detail.contains("it is not done twice"))
                try await proxy.resume()
                let again = try await eventually("the replica to reach its database") {
                    let answer = try await replica.put()
                    return answer.status == 200 ? answer : nil
                }
                #expect(again.headers.first(name: "ETag") == "\"1\"")
                #expect(try await catalog.history() == [1])
                #expect(try await catalog.published() == [1])
            }
            await proxy.cut()
        }
    }
}
