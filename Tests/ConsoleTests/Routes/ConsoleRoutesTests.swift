import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import StoreAPI
import Testing

@testable import Console

@Suite(.timeLimit(.minutes(10)))
struct ConsoleRoutesTests {
    private static let pages = [
        "/", "/search?q=ada", "/purchases/1000001", "/purchases/1000001/receipt", "/accounts/ada",
        "/subscriptions",
        "/subscriptions/1000001", "/acts", "/dead-letters", "/dead-letters?key=ada",
        "/dead-letters/receipts/1", "/products", "/products/com.example.coins", "/codes",
        "/codes/1", "/clock", "/approvals", "/refund-requests", "/refund-requests/1000001/1",
        "/products/club/offers", "/products/club/offers/introductory", "/products/club/raise",
        "/products/club/extensions", "/products/club/extensions/1",
    ]

    @Test func withoutASessionPagesLeadToSignInAndDataIsRefused() async throws {
        try await ConsoleUnderTest.run { console in
            for path in Self.pages + ["/replays", "/proofs"] {
                let answer = try await console.send(.get, path)
                #expect(answer.status == .seeOther, "\(path)")
                #expect(answer.headers[.location] == "/sign-in", "\(path)")
            }
            for path in ["/now", "/purchases/1000001/live", "/clock/live"] {
                #expect(try await console.send(.get, path, [:]).status == .unauthorized, "\(path)")
            }
            let act = try await console.send(.post, "/purchases/1/refund", form: "reason=x")
            #expect(act.status == .unauthorized)
        }
    }

    @Test func aTicketBeginsOneSession() async throws {
        try await ConsoleUnderTest.run { console in
            let answer = try await console.ticket(try await console.token())
            #expect(answer.status == .created)
            let text = String(buffer: answer.body)
            let ticket = try #require(text.firstMatch(of: /#ticket=([0-9a-f]{32})"/)?.1)
            let first = try await console.send(.post, "/session", form: "ticket=\(ticket)")
            #expect(first.status == .seeOther)
            let cookie = first.headers[.setCookie] ?? ""
            for part in ["__Host-console=", "HttpOnly", "Secure", "SameSite=Strict", "Path=/"] {
                #expect(cookie.contains(part), "\(part)")
            }
            let second = try await console.send(.post, "/session", form: "ticket=\(ticket)")
            #expect(second.status == .forbidden)
        }
    }

    @Test func aTokenForSomethingElseGetsNoTicket() async throws {
        // The refusal is a problem of the outer router, which a whole console has.
        try await ConsoleUnderTest.run(isWhole: true) { console in
            let other = try await console.token(audience: "counterfoil")
            let expired = try await console.token(endingIn: -3600)
            let changed = String(try await console.token().dropLast(8)) + "AAAAAAAA"
            for token in [other, expired, changed] {
                let answer = try await console.ticket(token)
                #expect(answer.status == .unauthorized)
                #expect(!String(buffer: answer.body).contains("#ticket="))
            }
            let good = try await console.ticket(try await console.token())
            #expect(good.status == .created)
        }
    }

    @Test func noPageHoldsTheToken() async throws {
        try await ConsoleUnderTest.run { console in
            let token = try await console.token()
            let (cookie, _) = try await console.signIn()
            let page = try await console.send(.get, "/", cookie: cookie)
            #expect(!String(buffer: page.body).contains(token.prefix(20)))
            #expect(!"\(page.headers)".contains("eyJ"))
        }
    }

    @Test func everyAnswerHasTheHeaders() async throws {
        try await ConsoleUnderTest.run { console in
            let (cookie, _) = try await console.signIn()
            for path in Self.pages + [
                "/nowhere", "/a/b/c", "/assets/console.css", "/sign-in", "/now",
            ] {
                let answer = try await console.send(.get, path, cookie: cookie)
                let policy = answer.headers[try #require(.init("Content-Security-Policy"))]
                #expect(policy == PageHeaders.policy, "\(path)")
                let site = answer.headers[try #require(.init("X-Content-Type-Options"))]
                #expect(site == "nosniff", "\(path)")
                let isFile = path.hasPrefix("/assets/")
                #expect(
                    answer.headers[.cacheControl] == (isFile ? "no-cache" : "no-store"),
                    "\(path)"
                )
            }
            #expect(try await console.send(.get, "/nowhere", cookie: cookie).status == .notFound)
        }
    }

    @Test func browsersStayWithHTTPSWhereTheConsoleHasIt() {
        var plain = HTTPFields()
        PageHeaders.add(to: &plain, isFile: false, isSecure: false)
        #expect(plain[.strictTransportSecurity] == nil)
        var secure = HTTPFields()
        PageHeaders.add(to: &secure, isFile: false, isSecure: true)
        #expect(secure[.strictTransportSecurity] == "max-age=31536000")
        #expect(ConsoleOrigin("https://console.example.com")?.isSecure == true)
        #expect(ConsoleOrigin("http://localhost")?.isSecure == false)
    }

    @Test(arguments: ["http://localhost", "https://localhost"])
    func answersAroundThePagesHaveTheHeaders(origin: String) async throws {
        try await ConsoleUnderTest.run(origin: origin, isWhole: true) { console in
            let query = try #require(HTTPRequest.Method("QUERY"))
            let cases: [(method: HTTPRequest.Method, path: String, status: Int)] = [
                (.get, "/health/live", 200), (.get, "/health/ready", 200), (.get, "/metrics", 200),
                (query, "/", 405), (query, "/nowhere", 405), (.trace, "/", 403),
                (.post, "/tickets", 401), (.get, "/sign-in", 200),
            ]
            for (method, path, status) in cases {
                // The command line sends a token, and this one is not good.
                let fields = path == "/tickets" ? ["Authorization": "Bearer x"] : [:]
                let answer = try await console.send(method, path, fields)
                #expect(answer.status.code == status, "\(path)")
                let wanted = PageHeaders.all(isSecure: origin.hasPrefix("https"))
                for field in wanted {
                    #expect(answer.headers[field.name] == field.value, "\(path): \(field.name)")
                }
                #expect(answer.headers[values: .cacheControl].count == 1)
                let lasting = answer.headers[.strictTransportSecurity]
                #expect((lasting != nil) == origin.hasPrefix("https"))
            }
        }
    }

    @Test func aFormWithoutTheSessionsTextIsRefused() async throws {
        try await ConsoleUnderTest.run { console in
            let (cookie, csrf) = try await console.signIn()
            let path = "/purchases/1000001/approval"
            let body = "decision=approve&reason=x"
            for form in [body, body + "&csrf=0"] {
                let answer = try await console.send(.post, path, cookie: cookie, form: form)
                #expect(answer.status == .forbidden)
            }
            let foreign = try await console.send(
                .post,
                path,
                cookie: cookie,
                form: body + "&csrf=\(csrf)",
                ["Sec-Fetch-Site": "cross-site"]
            )
            #expect(foreign.status == .forbidden)
            // With everything right it gets as far as the service, which is away.
            let own = try await console.send(
                .post,
                path,
                cookie: cookie,
                form: body + "&csrf=\(csrf)"
            )
            #expect(own.status == .serviceUnavailable)
            let page = String(buffer: own.body)
            #expect(page.contains("payments cannot be reached"))
            #expect(page.contains("may have been done or not"))
        }
    }

    @Test(arguments: [true, false])
    func whoMayNotActIsRefusedBeforeTheService(isReadOnly: Bool) async throws {
        let scopes = isReadOnly ? AdministratorScope.allCases : [.read]
        try await ConsoleUnderTest.run(scopes: scopes, isReadOnly: isReadOnly) { console in
            let (cookie, csrf) = try await console.signIn()
            for (act, fields) in [("refund", "order=W&key=k"), ("approval", "decision=approve")] {
                let answer = try await console.send(
                    .post,
                    "/purchases/1000001/\(act)",
                    cookie: cookie,
                    form: "\(fields)&reason=x&csrf=\(csrf)"
                )
                #expect(answer.status == .forbidden, "\(act)")
            }
        }
    }

    @Test(arguments: [
        ("/subscriptions/1000001/act", "act=cancel", AdministratorScope.support),
        ("/subscriptions/1000001/act", "act=renew&key=x", .support),
        ("/purchases/1000001/webhooks", "", .support),
        ("/purchases/1000001/resumption", "", .support),
        ("/subscriptions/1000001/act", "act=extend&version=1&days=3&code=3", .support),
        ("/products/club/extensions/preview", "app=a&days=3&code=3&newest=0", .support),
        ("/products/club/extensions", "app=a&days=3&code=3&newest=0&typed=club", .support),
        ("/refund-requests/1000001/1/decision", "decision=decline", .support),
        ("/dead-letters/redrive", "key=ada&typed=ada", .operator),
        ("/dead-letters/receipts/1/discard", "typed=receipts+1", .operator),
        ("/products/com.example.coins", "version=1", .merchandiser),
        ("/products/com.example.coins/preview", "version=1", .merchandiser),
        ("/products/club/offers/code", "version=1", .merchandiser),
        ("/products/club/offers/code/preview", "version=1", .merchandiser),
        ("/codes", "app=a&product=club&offer=spring&count=1&form=x", .merchandiser),
        ("/codes/1/deactivation", "typed=1", .merchandiser), ("/clock", "act=freeze", .operator),
    ])
    func eachActNeedsItsOwnScope(
        path: String,
        fields: String,
        scope: AdministratorScope
    ) async throws {
        let others = AdministratorScope.allCases.filter { $0 != scope }
        try await ConsoleUnderTest.run(scopes: others) { console in
            let (cookie, csrf) = try await console.signIn()
            let answer = try await console.send(
                .post,
                path,
                cookie: cookie,
                form: "\(fields)&reason=x&csrf=\(csrf)"
            )
            #expect(answer.status == .forbidden)
        }
        try await ConsoleUnderTest.run(scopes: [scope]) { console in
            let (cookie, csrf) = try await console.signIn()
            let form = "\(fields)&reason=x&csrf=\(csrf)"
            let answer = try await console.send(.post, path, cookie: cookie, form: form)
            #expect(answer.status == .serviceUnavailable, "it gets as far as the store")
        }
    }

    @Test(arguments: [
        ([AdministratorScope.merchandiser], 403), ([.read, .support, .operator], 403),
        ([.merchandiser, .read], 503), ([.merchandiser, .support], 503),
    ])
    func aRaiseNeedsTwoScopes(scopes: [AdministratorScope], status: Int) async throws {
        try await ConsoleUnderTest.run(scopes: scopes) { console in
            let (cookie, csrf) = try await console.signIn()
            let answer = try await console.send(
                .post,
                "/products/club/raise",
                cookie: cookie,
                form: "storefront=USA&amount=3.49&csrf=\(csrf)"
            )
            #expect(answer.status.code == status)
        }
    }

    @Test func anActWithoutItsConfirmationOrReasonDoesNothing() async throws {
        try await ConsoleUnderTest.run { console in
            let (cookie, csrf) = try await console.signIn()
            for form in ["key=ada&typed=eve&reason=x", "key=ada&typed=ada", "typed=ada&reason=x"] {
                let answer = try await console.send(
                    .post,
                    "/dead-letters/redrive",
                    cookie: cookie,
                    form: "\(form)&csrf=\(csrf)"
                )
                #expect(answer.status == .badRequest, "\(form)")
            }
        }
    }

    @Test func codesAreMadeOnceForAForm() async throws {
        try await ConsoleUnderTest.run { console in
            let (cookie, csrf) = try await console.signIn()
            let form = "app=a&product=club&offer=spring&count=1&reason=x&csrf=\(csrf)"
            var statuses: [Int] = []
            // Without an answer of payments nobody knows whether the first one has made them.
            for text in ["", "&form=x", "&form=x", "&form=y"] {
                let answer = try await console.send(
                    .post,
                    "/codes",
                    cookie: cookie,
                    form: form + text
                )
                statuses.append(answer.status.code)
            }
            #expect(statuses == [400, 503, 409, 503])
            let wrong = try await console.send(
                .post,
                "/codes/1/deactivation",
                cookie: cookie,
                form: "typed=2&reason=x&csrf=\(csrf)"
            )
            #expect(wrong.status == .badRequest)
        }
    }

    @Test func aFormThatIsTooLongIsRefused() async throws {
        try await ConsoleUnderTest.run { console in
            let (cookie, csrf) = try await console.signIn()
            let long = String(repeating: "x", count: ConsoleDoor.formLengthMax)
            let answer = try await console.send(
                .post,
                "/purchases/1000001/refund",
                cookie: cookie,
                form: "csrf=\(csrf)&reason=\(long)"
            )
            #expect(answer.status == .contentTooLarge)
        }
    }

    @Test func whoTriesTooManyTicketsWaits() async throws {
        try await ConsoleUnderTest.run { console in
            var statuses: [Int] = []
            for _ in 0...SignInLimit.failuresMax {
                let answer = try await console.send(.post, "/session", form: "ticket=0")
                statuses.append(answer.status.code)
            }
            #expect(statuses == Array(repeating: 403, count: SignInLimit.failuresMax) + [429])
            // Somebody behind the same proxy has a good ticket.
            let (cookie, _) = try await console.signIn()
            #expect(try await console.send(.get, "/", cookie: cookie).status == .ok)
        }
    }

    @Test func whoSellsSeesNoPurchase() async throws {
        try await ConsoleUnderTest.run(scopes: [.merchandiser]) { console in
            let (cookie, _) = try await console.signIn()
            for path in Self.pages.dropFirst()
            where !path.hasPrefix("/products") && !path.hasPrefix("/codes") {
                #expect(try await console.send(.get, path, cookie: cookie).status == .forbidden)
            }
        }
    }

    @Test func aStoreThatIsAwayIsToldByEachPage() async throws {
        try await ConsoleUnderTest.run { console in
            let (cookie, _) = try await console.signIn()
            let now = try await console.send(.get, "/", cookie: cookie)
            #expect(now.status == .ok)
            #expect(String(buffer: now.body).contains("cannot be reached"))
            for path in Self.pages.dropFirst() {
                let page = try await console.send(.get, path, cookie: cookie)
                #expect(page.status == .serviceUnavailable, "\(path)")
                let text = String(buffer: page.body)
                let namesItsPart =
                    text.contains("The database of") || text.contains("cannot be reached")
                #expect(namesItsPart, "\(path)")
                // It goes on by itself or by a click, or leads anywhere else.
                for part in ["data-retry", ">Try again</a>", "aria-label=\"Pages\""] {
                    #expect(text.contains(part), "\(path): \(part)")
                }
            }
        }
    }

    @Test func aDeadLetterIsFoundByItsName() async throws {
        try await ConsoleUnderTest.run(scopes: [.support]) { console in
            let (cookie, _) = try await console.signIn()
            let found = try await console.send(.get, "/search?q=receipts+12", cookie: cookie)
            #expect(found.headers[.location] == "/dead-letters/receipts/12")
        }
    }

    @Test func whoEndsAllSessionsIsSignedOutEverywhere() async throws {
        try await ConsoleUnderTest.run { console in
            let (first, csrf) = try await console.signIn()
            let (second, _) = try await console.signIn()
            let issued = try await console.ticket(try await console.token())
            let out = try await console.send(
                .post,
                "/sign-out",
                cookie: first,
                form: "everywhere=yes&csrf=\(csrf)"
            )
            #expect(out.headers[.location] == "/sign-in")
            let link = String(buffer: issued.body)
            let ticket = try #require(link.firstMatch(of: /#ticket=([0-9a-f]+)/)?.1)
            let late = try await console.send(.post, "/session", form: "ticket=\(ticket)")
            #expect(late.status == .forbidden, "a ticket that waited opens nothing")
            for cookie in [first, second] {
                #expect(
                    try await console.send(.get, "/now", cookie: cookie, [:]).status.code == 401
                )
            }
        }
    }

    @Test func whoSignsOutIsSignedOut() async throws {
        try await ConsoleUnderTest.run { console in
            let (cookie, csrf) = try await console.signIn()
            let out = try await console.send(
                .post,
                "/sign-out",
                cookie: cookie,
                form: "csrf=\(csrf)"
            )
            #expect(out.status == .seeOther)
            #expect(try await console.send(.get, "/", cookie: cookie).status == .seeOther)
        }
    }
}
