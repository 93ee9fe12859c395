import Contracts
import EventTypes
import Foundation
import Hummingbird
import Testing

@testable import ServiceKit

@Suite(.timeLimit(.minutes(10)))
struct ContractRoutesTests {
    @Test func aContractIsServedToAnybodyAndCachedByItsTag() async throws {
        let documents = [
            "/openapi.json": try Contract.openAPI(of: .payments),
            "/openapi/store.json": try Contract.openAPI(),
            "/asyncapi.json": try Contract.asyncAPI(),
        ]
        try await withServer(routes: { ContractRoutes(of: .payments).add(to: $0) }) { port, _ in
            for (path, document) in documents {
                let whole = try await send("GET", path, to: port)
                #expect(whole.status == 200)
                #expect(whole.headers["content-type"] == "application/json")
                #expect(whole.body == String(decoding: document, as: UTF8.self))
                let tag = try #require(whole.headers["etag"])
                let known = try await send("GET", path, headers: ["If-None-Match": tag], to: port)
                #expect(known.status == 304)
                #expect(known.body.isEmpty && known.headers["etag"] == tag)
                let other = try await send(
                    "GET",
                    path,
                    headers: ["If-None-Match": "\"\(tag.count)\""],
                    to: port
                )
                #expect(other.status == 200)
            }
        }
    }
}
