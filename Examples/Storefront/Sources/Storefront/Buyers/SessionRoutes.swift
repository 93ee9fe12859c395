import NIOCore
import Foundation
import HTTPTypes
import Hummingbird

/// Signs buyers in and out: `GET`, `POST` and `DELETE` of `/session`.
struct SessionRoutes: Sendable {
    /// The cookie.
    ///
    /// Its prefix makes browsers refuse it from any other path, host or plain connection.
    static let cookie = "__Host-storefront"

    let sessions: Sessions
    /// Whether the page may show what only the sandbox's administrator can do.
    let hasControls: Bool

    func add(to router: Router<BasicRequestContext>) {
        router.get("/session", use: current)
        router.post("/session", use: begin)
        router.delete("/session", use: end)
    }

    /// The session of a request.
    ///
    /// - Throws: ``StorefrontProblem/signedOut``.
    func session(of request: Request) throws(StorefrontProblem) -> Session {
        let secret = request.cookies[Self.cookie]?.value
        guard let session = sessions.session(of: secret, at: .now) else { throw .signedOut }
        return session
    }

    /// Whether the session of a request has not ended since.
    func isGoingOn(for request: Request) -> Bool {
        sessions.isGoingOn(request.cookies[Self.cookie]?.value, at: .now)
    }

    private struct SignIn: Decodable {
        var name: String
        var storefront: String
    }

    private struct Answer: Encodable {
        var name: String?
        var account: String?
        var storefront: String?
        var hasControls: Bool
    }

    /// Answers 200 in both cases: that nobody is signed in is no error.
    private func current(_ request: Request, _: BasicRequestContext) throws -> Response {
        let session = sessions.session(of: request.cookies[Self.cookie]?.value, at: .now)
        return try jsonResponse(answer(session))
    }

    private func begin(_ request: Request, _: BasicRequestContext) async throws -> Response {
        let body = try await request.body.collect(upTo: 4096)
        guard let wish = try? JSONDecoder().decode(SignIn.self, from: Data(body.readableBytesView))
        else {
            throw StorefrontProblem.badRequest("form_malformed", "Send a name and a storefront.")
        }
        guard wish.storefront.utf8.count == 3,
            wish.storefront.utf8.allSatisfy({ (0x41...0x5A).contains($0) })
        else {
            throw StorefrontProblem.badRequest("storefront_malformed", "Name a region: USA.")
        }
        let buyer = try Buyer(name: wish.name)
        // A session never outlives a sign-in, so nobody can plant one.
        if let old = request.cookies[Self.cookie]?.value { sessions.end(old) }
        let secret = sessions.begin(buyer, storefront: wish.storefront, at: .now)
        var response = try jsonResponse(answer(sessions.session(of: secret, at: .now)))
        response.setCookie(Self.cookie(secret, seconds: Int(Sessions.ageMax)))
        return response
    }

    private func end(_ request: Request, _: BasicRequestContext) throws -> Response {
        if let secret = request.cookies[Self.cookie]?.value { sessions.end(secret) }
        var response = try jsonResponse(answer(nil))
        response.setCookie(Self.cookie("", seconds: 0))
        return response
    }

    private func answer(_ session: Session?) -> Answer {
        Answer(
            name: session?.buyer.name,
            account: session?.buyer.accountID,
            storefront: session?.storefront,
            hasControls: hasControls
        )
    }

    private static func cookie(_ secret: String, seconds: Int) -> Cookie {
        Cookie(
            name: cookie,
            value: secret,
            maxAge: seconds,
            path: "/",
            secure: true,
            httpOnly: true,
            sameSite: .strict
        )
    }
}
