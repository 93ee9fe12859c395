import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import OperatorCore
import ServiceKit

/// Signs administrators in and out.
///
/// The command line sends the administrator's token to `POST /tickets` and gets a ticket. The browser
/// exchanges the ticket for a session with `POST /session`.
struct SignInRoutes: Sendable {
    let door: ConsoleDoor
    let origin: ConsoleOrigin
    let desk: StoreDesk

    func add(to router: Router<StoreRequestContext>) {
        router.post("/tickets", use: issue)
        router.get("/sign-in") { _, _ in pageResponse(SignInPage().html) }
        router.post("/session", use: begin)
        router.post("/sign-out", use: end)
    }

    private func issue(_ request: Request, _: StoreRequestContext) throws -> Response {
        guard let token = ConsoleDoor.token(of: request) else {
            throw ConsoleProblem(
                401,
                "The command sent no token",
                "Ask with: counterfoil console ticket"
            )
        }
        let administrator = try door.authenticator.administrator(of: token)
        let ticket = door.tickets.issue(for: token, at: door.now())
        door.logger.info(
            "issued a ticket for the console",
            metadata: ["administrator": "\(administrator.name)"]
        )
        let answer = SignInTicket(
            url: "\(origin.text)/sign-in#ticket=\(ticket)",
            secondsLeft: Int(TicketTable.lifetime.components.seconds)
        )
        return Response(
            status: .created,
            headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try JSONEncoder().encode(answer)))
        )
    }

    private func begin(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let form = try await door.form(of: request)
        guard let token = door.tickets.take(form["ticket"] ?? "", at: door.now()),
            // A key that was removed meanwhile opens nothing.
            let administrator = try? door.authenticator.administrator(of: token)
        else {
            let address = context.peerAddress
            guard door.signIns.mayTry(address, at: door.now()) else {
                let page = SignInPage(
                    problem: "Too many tickets from here were not good. Try again in a minute."
                )
                return pageResponse(page.html, .tooManyRequests)
            }
            door.signIns.noteFailure(of: address, at: door.now())
            let page = SignInPage(
                problem:
                    "This ticket is not good: it was used, it is older than a minute, or it is of another console."
            )
            return pageResponse(page.html, .forbidden)
        }
        // A session never outlives a sign-in, so nobody can plant one.
        if let old = request.cookies[ConsoleDoor.cookie]?.value { door.sessions.end(old) }
        let secret = door.sessions.begin(
            with: token,
            of: administrator.name,
            at: door.now(),
            isSandbox: await desk.isSandbox()
        )
        door.logger.info(
            "signed in to the console",
            metadata: ["administrator": "\(administrator.name)"]
        )
        var response = Response(status: .seeOther, headers: [.location: "/"])
        response.setCookie(ConsoleDoor.cookie(secret))
        return response
    }

    private func end(_ request: Request, _: StoreRequestContext) async throws -> Response {
        let visitor = try door.visitor(of: request)
        let form = try await door.form(of: request)
        try door.visits.requireOwnForm(form, of: visitor)
        if form["everywhere"] != nil {
            door.sessions.endAll(of: visitor.name, at: door.now())
            // A ticket that waits would open another one.
            door.tickets.forget { token in
                (try? door.authenticator.administrator(of: token))?.name == visitor.name
            }
            door.logger.info(
                "ended all sessions of the console",
                metadata: ["administrator": "\(visitor.name)"]
            )
        } else if let secret = request.cookies[ConsoleDoor.cookie]?.value {
            door.sessions.end(secret)
        }
        var response = Response(status: .seeOther, headers: [.location: "/sign-in"])
        response.setCookie(ConsoleDoor.cookie(""))
        return response
    }
}
