import EventTypes
import NIOHTTP1
import StoreAPI
import Testing
import TestSupport

@testable import Catalog

/// Requests that are refused with their codes and change nothing.
@Suite(.timeLimit(.minutes(10))) struct BadRequestTests {
    private struct Case: Sendable {
        var method = HTTPMethod.GET
        var path: String
        var body: String?
        var headers: [(String, String)] = []
        var status: Int
        var code: String
    }

    @Test func aBuyerLearnsWhatIsWrong() async throws {
        let products = Routes.products
        let many = (0...200).map { "p\($0)" }.joined(separator: ",")
        try await check(
            asAdministrator: false,
            [
                Case(path: products, status: 400, code: "query_invalid"),
                Case(path: products + "?after=a", status: 400, code: "query_invalid"),
                Case(
                    path: products + "?after=a%20b&storefront=USA",
                    status: 400,
                    code: "query_invalid"
                ),
                Case(
                    path: products + "?ids=a&after=a&storefront=USA",
                    status: 400,
                    code: "query_invalid"
                ),
                Case(path: products + "?ids=&storefront=USA", status: 400, code: "query_invalid"),
                Case(path: products + "?ids=a", status: 400, code: "query_invalid"),
                Case(
                    path: products + "?ids=a&storefront=US",
                    status: 400,
                    code: "storefront_unknown"
                ),
                Case(
                    path: products + "?ids=a&storefront=usa",
                    status: 400,
                    code: "storefront_unknown"
                ),
                Case(
                    path: products + "?ids=a&storefront=USA&language=e",
                    status: 400,
                    code: "query_invalid"
                ),
                Case(
                    path: products + "?ids=\(many)&storefront=USA",
                    status: 400,
                    code: "query_invalid"
                ),
                Case(path: "/v1/product", status: 404, code: "not_found"),
                Case(path: Routes.adminCatalog, status: 401, code: "unauthorized"),
                Case(
                    method: .DELETE,
                    path: Routes.adminProduct(Builder.premium),
                    status: 401,
                    code: "unauthorized"
                ),
            ]
        )
    }

    @Test func anAdministratorLearnsWhatIsWrong() async throws {
        let product = Routes.adminProduct(Builder.coins)
        let good = Builder.json()
        try await check(
            asAdministrator: true,
            [
                Case(path: product, status: 404, code: "product_unknown"),
                Case(path: Routes.adminProducts + "/a%20b", status: 404, code: "not_found"),
                Case(method: .DELETE, path: product, status: 404, code: "product_unknown"),
                Case(method: .PUT, path: product, body: "{", status: 400, code: "malformed_json"),
                Case(method: .PUT, path: product, body: "", status: 400, code: "malformed_json"),
                Case(method: .PUT, path: product, body: "[]", status: 422, code: "product_invalid"),
                Case(method: .PUT, path: product, body: "{}", status: 422, code: "product_invalid"),
                Case(
                    method: .PUT,
                    path: Routes.adminProducts + "/a%20b",
                    body: good,
                    status: 422,
                    code: "product_invalid"
                ),
                Case(
                    method: .PUT,
                    path: product,
                    body: good,
                    headers: [("Content-Type", "text/plain")],
                    status: 415,
                    code: "unsupported_media_type"
                ),
                Case(
                    method: .PUT,
                    path: product,
                    body: good,
                    headers: [("If-Match", "\"1\"")],
                    status: 412,
                    code: "precondition_failed"
                ),
                Case(
                    method: .PUT,
                    path: product,
                    body: good,
                    headers: [("If-None-Match", "\"1\"")],
                    status: 400,
                    code: "precondition_invalid"
                ),
                Case(
                    method: .PUT,
                    path: product,
                    body:
                        #"{"x": "\#(String(repeating: "x", count: AdminRoutes.productBytesMax))"}"#,
                    status: 413,
                    code: "body_too_large"
                ),
                Case(
                    method: .PUT,
                    path: Routes.adminCatalog,
                    body: #"{"products": [1]}"#,
                    status: 422,
                    code: "catalog_invalid"
                ),
                Case(
                    method: .PUT,
                    path: Routes.adminCatalog,
                    body: #"{"products": {"a": \#(good), "b c": \#(good)}}"#,
                    status: 422,
                    code: "catalog_invalid"
                ),
                Case(
                    method: .PUT,
                    path: Routes.adminCatalog,
                    body: #"{"x": "\#(String(repeating: "x", count: 70_000))"}"#,
                    status: 413,
                    code: "body_too_large"
                ),
                Case(
                    path: Routes.products + "?ids=a&storefront=USA",
                    status: 401,
                    code: "unauthorized"
                ),
            ]
        )
    }

    @Test func withoutATokenNothingIsAnswered() async throws {
        try await withCatalog { catalog in
            let forged = try catalog.keys.forgedToken(account: AccountID(unchecked: "ada"))
            for token in [nil, "", "nonsense", forged] {
                for path in [Routes.products + "?ids=a&storefront=USA", Routes.adminCatalog] {
                    let response = try await catalog.send(.GET, path, token: token)
                    #expect(response.status == 401)
                }
            }
        }
    }

    private func check(asAdministrator: Bool, _ cases: [Case]) async throws {
        try await withCatalog { catalog in
            try await catalog.put()
            for example in cases {
                let response = try await catalog.send(
                    example.method,
                    example.path,
                    example.body,
                    token: asAdministrator ? catalog.adminToken : catalog.accountToken,
                    headers: example.headers
                )
                let problem = try response.decode(Problem.self)
                #expect(response.status == example.status, "\(example.path): \(problem)")
                #expect(problem.code == example.code, "\(example.path): \(problem)")
                #expect(problem.status == example.status && !problem.detail.isEmpty)
            }
            let document = try await catalog.admin(.GET, Routes.adminCatalog)
                .decode(CatalogDocument.self)
            #expect(Array(document.products.keys) == [Builder.premium])
            #expect(try await catalog.history() == [1])
        }
    }
}
