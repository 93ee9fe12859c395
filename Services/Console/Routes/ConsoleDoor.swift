import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceKit

/// Knows who is signed in.
struct ConsoleDoor: Sendable {
    /// The cookie.
    ///
    /// Its prefix makes browsers refuse it from any other path, host or plain connection.
    static let cookie = "__Host-console"
    /// The longest form.
    static let formLengthMax = 8 << 10

    let authenticator: Authenticator
    let visits: VisitRules
    let now: @Sendable () -> MachineTime
    let logger: Logger
    let tickets = TicketTable()
    let sessions: SessionTable
    let signIns = SignInLimit()

    /// Makes a door.
    init(
        authenticator: Authenticator,
        visits: VisitRules,
        now: @escaping @Sendable () -> MachineTime,
        logger: Logger,
        sessions: SessionTable = SessionTable()
    ) {
        self.authenticator = authenticator
        self.visits = visits
        self.now = now
        self.logger = logger
        self.sessions = sessions
    }

    /// Forgets sessions and tickets in the background.
    var sweeper: SessionSweeper {
        SessionSweeper(tickets: tickets, sessions: sessions, signIns: signIns, now: now)
    }

    /// The visitor of a request.
    ///
    /// The token is verified again, so a key that is removed ends its sessions within seconds.
    ///
    /// - Throws: ``ConsoleProblem/signedOut``.
    func visitor(of request: Request, isUse: Bool = true) throws(ConsoleProblem) -> Visitor {
        guard let secret = request.cookies[Self.cookie]?.value,
            let session = sessions.session(of: secret, at: now(), isUse: isUse)
        else { throw .signedOut }
        // Whatever is wrong with the token, its session is over.
        guard let administrator = try? authenticator.administrator(of: session.token) else {
            sessions.end(secret)
            throw .signedOut
        }
        return Visitor(
            name: administrator.name,
            scopes: administrator.scopes,
            session: session,
            isReadOnly: visits.isReadOnly
        )
    }

    /// The visitor of a request, who may see a part of the store.
    func visitor(
        of request: Request,
        seeing sight: Sight,
        isUse: Bool = true
    ) throws(ConsoleProblem) -> Visitor {
        let visitor = try visitor(of: request, isUse: isUse)
        try visits.require(sight, for: visitor)
        return visitor
    }

    /// The token that a command has sent; `nil` if there is none.
    static func token(of request: Request) -> String? {
        let parts = (request.headers[.authorization] ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }

    /// Reads the fields of a form.
    func form(
        of request: Request,
        upTo lengthMax: Int = formLengthMax
    ) async throws -> FormFields {
        let type = request.headers[.contentType]?.lowercased() ?? ""
        guard type.hasPrefix("application/x-www-form-urlencoded") else {
            throw ConsoleProblem(
                415,
                "This is not a form of the console",
                "Only the console’s own pages can act here. Nothing was done."
            )
        }
        let body = try await request.body.collect(upTo: lengthMax)
        guard let form = FormFields(String(buffer: body)) else {
            throw ConsoleProblem(400, "The form cannot be read", "Nothing was done.")
        }
        return form
    }

    /// The cookie of a session; an empty secret removes it.
    static func cookie(_ secret: String) -> Cookie {
        Cookie(
            name: cookie,
            value: secret,
            maxAge: secret.isEmpty ? 0 : Int(ConsoleSession.ageMax.components.seconds),
            path: "/",
            secure: true,
            httpOnly: true,
            sameSite: .strict
        )
    }
}
