import HTTPTypes
import HummingbirdTesting
import StoreAPI
import Testing

@testable import Console

/// All routes of the console, taken from its router, so that a new one is tested or fails a test.
@Suite(.timeLimit(.minutes(10)))
struct EveryRouteTests {
    /// Those that nobody has to be signed in for; a command sends a token with two of them.
    private static let open: Set<String> = [
        "GET /sign-in", "POST /session", "POST /tickets", "POST /reports",
        "GET /assets/console.css", "GET /assets/console.js", "GET /assets/icon.svg",
    ]

    /// Those that everybody who is signed in may use, whatever their scopes.
    private static let common: Set<String> = ["GET /", "GET /now", "POST /sign-out"]

    /// The part of the store that each page shows.
    private static let sights: [String: Sight] = [
        "/accounts/{id}": .purchases, "/acts": .purchases, "/approvals": .purchases,
        "/clock": .clock, "/clock/live": .clock, "/codes": .products, "/codes/{id}": .products,
        "/dead-letters": .deadLetters, "/dead-letters/{service}/{id}": .deadLetters,
        "/products": .products, "/products/{id}": .products,
        "/products/{id}/extensions": .purchases,
        "/products/{id}/extensions/{number}": .purchases,
        "/products/{id}/extensions/{number}/live": .purchases,
        "/products/{id}/offers": .products, "/products/{id}/offers/{kind}": .products,
        "/products/{id}/raise": .purchases, "/proofs": .jobs, "/proofs/{id}": .jobs,
        "/proofs/{id}/live": .jobs, "/purchases": .purchases, "/purchases/{id}": .purchases,
        "/purchases/{id}/live": .purchases, "/purchases/{id}/receipt": .receipts,
        "/raises": .purchases, "/raises/{id}": .purchases,
        "/raises/{id}/live": .purchases, "/reconciliations": .jobs,
        "/reconciliations/{id}": .jobs, "/reconciliations/{id}/live": .jobs,
        "/refund-requests": .purchases,
        "/refund-requests/{id}/{number}": .purchases, "/replays": .jobs, "/replays/{id}": .jobs,
        "/replays/{id}/live": .jobs, "/seals": .jobs, "/search": .purchases,
        "/subscriptions": .purchases,
        "/subscriptions/{id}": .purchases, "/subscriptions/{id}/live": .purchases,
    ]

    /// The scope that each form needs.
    private static let scopes: [String: AdministratorScope] = [
        "/clock": .operator, "/codes": .merchandiser, "/codes/{id}/deactivation": .merchandiser,
        "/dead-letters/redrive": .operator, "/dead-letters/{service}/{id}/discard": .operator,
        "/products/{id}": .merchandiser, "/products/{id}/edit": .merchandiser,
        "/products/{id}/extensions": .support, "/products/{id}/extensions/preview": .support,
        "/products/{id}/offers/{kind}": .merchandiser,
        "/products/{id}/offers/{kind}/edit": .merchandiser,
        "/products/{id}/offers/{kind}/preview": .merchandiser,
        "/products/{id}/preview": .merchandiser, "/products/{id}/raise": .merchandiser,
        "/proofs": .operator, "/proofs/{id}/stop": .operator, "/purchases/{id}/approval": .support,
        "/purchases/{id}/refund": .support, "/purchases/{id}/resumption": .support,
        "/purchases/{id}/webhooks": .support, "/raises/{id}/resume": .merchandiser,
        "/raises/{id}/run": .merchandiser, "/raises/{id}/stop": .merchandiser,
        "/reconciliations": .operator, "/reconciliations/{id}/stop": .operator,
        "/refund-requests/{id}/{number}/decision": .support, "/replays": .operator,
        "/replays/{id}/resume": .operator, "/replays/{id}/run": .operator,
        "/replays/{id}/stop": .operator, "/subscriptions/{id}/act": .support,
    ]

    /// A path that a route answers.
    private static func path(of route: some StringProtocol) -> String {
        let id =
            route.hasPrefix("/products") ? "club" : route.hasPrefix("/accounts") ? "ada" : "1000001"
        return String(route)
            .replacing("{service}", with: "receipts").replacing("{kind}", with: "code")
            .replacing("{number}", with: "1").replacing("{id}", with: id)
    }

    /// The paths that a method has in the router, but for some routes.
    private static func paths(
        _ method: String,
        in console: ConsoleUnderTest,
        without others: Set<String>
    ) -> [Substring] {
        console.routes.subtracting(others).filter { $0.hasPrefix(method + " /") }.sorted()
            .map { $0.dropFirst(method.count + 1) }
    }

    @Test func everyRouteIsInATable() async throws {
        try await ConsoleUnderTest.run { console in
            let known = Self.sights.keys.map { "GET " + $0 } + Self.scopes.keys.map { "POST " + $0 }
            #expect(console.routes == Self.open.union(Self.common).union(known))
        }
    }

    @Test func withoutASessionNoRouteAnswers() async throws {
        try await ConsoleUnderTest.run { console in
            for route in Self.paths("GET", in: console, without: Self.open) {
                let path = Self.path(of: route)
                let page = try await console.send(.get, path)
                #expect(page.status == .seeOther, "\(route)")
                #expect(page.headers[.location] == "/sign-in", "\(route)")
                let data = try await console.send(.get, path, [:])
                #expect(data.status == .unauthorized, "\(route)")
            }
            for route in Self.paths("POST", in: console, without: Self.open) {
                let path = Self.path(of: route)
                let answer = try await console.send(.post, path, form: "reason=x")
                #expect(answer.status == .unauthorized, "\(route)")
            }
        }
    }

    @Test func noFormWorksWithoutTheSessionsText() async throws {
        try await ConsoleUnderTest.run { console in
            let (cookie, csrf) = try await console.signIn()
            for route in Self.paths("POST", in: console, without: Self.open) {
                let path = Self.path(of: route)
                let answer = try await console.send(.post, path, cookie: cookie, form: "reason=x")
                #expect(answer.status == .forbidden, "\(route)")
                let foreign = try await console.send(
                    .post,
                    path,
                    cookie: cookie,
                    form: "reason=x&csrf=\(csrf)",
                    ["Sec-Fetch-Site": "cross-site"]
                )
                #expect(foreign.status == .forbidden, "\(route)")
            }
        }
    }

    @Test func everyAnswerHasTheHeaders() async throws {
        try await ConsoleUnderTest.run { console in
            let (cookie, csrf) = try await console.signIn()
            let signedOut = Self.open.union(["POST /sign-out"])
            for method in [HTTPRequest.Method.get, .post] {
                for route in Self.paths(method.rawValue, in: console, without: signedOut) {
                    let answer = try await console.send(
                        method,
                        Self.path(of: route),
                        cookie: cookie,
                        form: method == .post ? "csrf=\(csrf)" : nil
                    )
                    var expected = HTTPFields()
                    PageHeaders.add(to: &expected, isFile: false, isSecure: false)
                    for field in expected {
                        #expect(answer.headers[field.name] == field.value, "\(method) \(route)")
                    }
                }
            }
        }
    }

    @Test(arguments: [AdministratorScope.support, .operator, .merchandiser])
    func eachFormNeedsItsScope(scope: AdministratorScope) async throws {
        let forms = Self.scopes.filter { $0.value == scope }.keys.sorted()
        let others = AdministratorScope.allCases.filter { $0 != scope }
        try await ConsoleUnderTest.run(scopes: others) { console in
            let (cookie, csrf) = try await console.signIn()
            for route in forms {
                let form = "reason=x&csrf=\(csrf)"
                let path = Self.path(of: route)
                let answer = try await console.send(.post, path, cookie: cookie, form: form)
                #expect(answer.status == .forbidden, "\(route)")
            }
        }
        // Who only reads does nothing, and a raise needs that, too.
        try await ConsoleUnderTest.run(scopes: [scope, .read]) { console in
            let (cookie, csrf) = try await console.signIn()
            for route in forms {
                let form = "reason=x&csrf=\(csrf)"
                let path = Self.path(of: route)
                let answer = try await console.send(.post, path, cookie: cookie, form: form)
                #expect(answer.status != .forbidden, "\(route)")
            }
        }
    }

    @Test(arguments: Sight.allCases)
    func eachPageNeedsOneOfItsScopes(sight: Sight) async throws {
        let pages = Self.sights.filter { $0.value == sight }.keys.sorted()
        let others = AdministratorScope.allCases.filter { !sight.scopes.contains($0) }
        try await ConsoleUnderTest.run(scopes: others) { console in
            let (cookie, _) = try await console.signIn()
            for route in pages {
                let path = Self.path(of: route)
                let answer = try await console.send(.get, path, cookie: cookie)
                #expect(answer.status == .forbidden, "\(route)")
            }
        }
    }
}
