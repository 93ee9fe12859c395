import HTTPTypes
import Hummingbird
import Logging

/// The outermost middleware: refuses requests that no page of this server sends, and gives every
/// answer its headers, errors included.
struct PageGuard: RouterMiddleware {
    typealias Context = BasicRequestContext

    /// The policy of the page.
    ///
    /// It allows files of this server and nothing else, and no text ever
    /// becomes HTML or a script.
    static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
        "connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
        "require-trusted-types-for 'script'", "trusted-types 'none'",
    ].joined(separator: "; ")

    /// The hosts under which browsers may know this server.
    ///
    /// Another name that leads here is an attack
    /// on a server that listens only on loopback.
    let hosts: Set<String>
    let logger: Logger

    func handle(
        _ request: Request,
        context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            try Self.check(request.head, hosts: hosts)
            response = try await next(request, context)
        } catch let problem as StorefrontProblem {
            response = problem.response
        } catch let error as HTTPError {
            response = Self.problem(of: error).response
        } catch let error as CancellationError {
            throw error
        } catch {
            logger.error(
                "a request failed",
                metadata: ["path": "\(request.uri.path)", "error": "\(error)"]
            )
            response =
                StorefrontProblem(
                    status: 500,
                    code: "internal",
                    title: "This server failed",
                    detail: "Its log says why."
                ).response
        }
        Self.addHeaders(to: &response, path: request.uri.path)
        return response
    }

    /// Checks what a request says about its sender.
    ///
    /// - Throws: ``StorefrontProblem``.
    static func check(_ head: HTTPRequest, hosts: Set<String>) throws(StorefrontProblem) {
        guard let host = head.authority, hosts.contains(host.lowercased()) else {
            throw StorefrontProblem(
                status: 421,
                code: "host_unknown",
                title: "This is another server",
                detail: "Open this shop under the address that its operator gave you."
            )
        }
        guard head.method != .get, head.method != .head else { return }
        guard isFromOwnPage(head, host: host) else {
            throw StorefrontProblem(
                status: 403,
                code: "foreign_page",
                title: "Another page sent this",
                detail: "Only this shop's own page can act in its buyers' names."
            )
        }
        // A form of another page cannot send this type.
        let type = head.headerFields[.contentType] ?? ""
        guard head.method == .delete || type.lowercased().hasPrefix("application/json") else {
            throw StorefrontProblem(
                status: 415,
                code: "not_json",
                title: "The body is not JSON",
                detail: "Send Content-Type: application/json."
            )
        }
    }

    private static func isFromOwnPage(_ head: HTTPRequest, host: String) -> Bool {
        if let site = HTTPField.Name("Sec-Fetch-Site").flatMap({ head.headerFields[$0] }) {
            return site == "same-origin"
        }
        guard let origin = head.headerFields[.origin] else { return false }
        return origin == "http://\(host)" || origin == "https://\(host)"
    }

    private static func problem(of error: HTTPError) -> StorefrontProblem {
        switch error.status {
        case .notFound: .notFound
        case .contentTooLarge:
            StorefrontProblem(
                status: 413,
                code: "body_too_large",
                title: "The body is too large",
                detail: "No form of this page is that long."
            )
        default:
            StorefrontProblem(
                status: error.status.code,
                code: "refused",
                title: "The request was refused",
                detail: error.body ?? error.status.reasonPhrase
            )
        }
    }

    private static func addHeaders(to response: inout Response, path: String) {
        let isData = path.hasPrefix("/api/") || path == "/session"
        let fields = [
            ("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cache-Control", isData ? "no-store" : "no-cache"),
        ]
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { response.headers[name] = value }
        }
    }
}
