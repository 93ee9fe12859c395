import EventTypes
import NIOHTTP1
import StoreAPI
import TestSupport
import Testing
@testable import Fulfillment
@testable import Fulfillment

/// The hosted contents that buyers see before they buy.
@Suite(.timeLimit(.minutes(10))) struct OfferedContentTests {
    private let level = ProductID(unchecked: "level.1")

    @Test func buyersSeeWhatAPurchaseWouldDownloadNow() async throws {
        try await StreamServer.run { server in
            let path = "\(Routes.contents)?ids=level.1,level.2,not%20an%20id"
            let before = try await server.ask(.GET, path)
            #expect(try before.decode(OfferedContentsResponse.self).contents.isEmpty)
            try await server.host(Array(repeating: 1, count: 300_000), for: level)
            let upload = Routes.adminContent(level) + "?version=2.0"
            _ = try await server.administer(.PUT, upload, body: [1, 2, 3])
            let answer = try await server.ask(.GET, path)
            let contents = try answer.decode(OfferedContentsResponse.self).contents
            let second = ContentVersion(unchecked: "2.0")
            #expect(
                contents == [OfferedContent(productID: level, version: second, length: 3)]
            )
            _ = try await server.administer(.DELETE, Routes.adminContent(level, second))
            let after = try await server.ask(.GET, path)
            #expect(
                try after.decode(OfferedContentsResponse.self).contents
                    == [
                        OfferedContent(
                            productID: level,
                            version: ContentVersion(unchecked: "1.0"),
                            length: 300_000
                        )
                    ]
            )
            let many = (1...201).map { "p\($0)" }.joined(separator: ",")
            for query in ["", "?ids=", "?ids=\(many)"] {
                let refused = try await server.ask(.GET, Routes.contents + query)
                #expect(refused.status == 400)
                #expect(try refused.decode(Problem.self).code == "query_invalid")
            }
            let unknown = try await StoreHTTP.send(.GET, "http://127.0.0.1:\(server.port)\(path)")
            #expect(unknown.status == 401)
        }
    }
}
