import EventTypes
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import OperatorCore
import ServiceKit

/// The pages' own router, which answers every path that is not one of a service's own.
///
/// It has one middleware around all answers, also those to unknown paths.
struct ConsoleRouter {
    /// The routes, with the middleware around them.
    let router: Router<StoreRequestContext>

    /// Makes the router.
    ///
    /// - Parameters:
    ///   - origin: The address that browsers show.
    ///   - logger: The logger.
    ///   - visitor: Finds who is signed in; `nil` if nobody is.
    ///   - routes: Adds the routes.
    init(
        origin: ConsoleOrigin,
        logger: Logger,
        visitor: @escaping @Sendable (Request) -> Visitor?,
        routes: (Router<StoreRequestContext>) -> Void
    ) {
        router = Router(context: StoreRequestContext.self, options: [.autoGenerateHeadEndpoints])
        router.add(
            middleware: ConsoleGuard(
                senders: SenderCheck(origin: origin),
                visitor: visitor,
                logger: logger
            )
        )
        routes(router)
    }

    /// Passes all paths on to this router.
    func mount(on outer: StoreRouter) {
        let responder = router.buildResponder()
        for path: RouterPath in ["/", "**"] {
            // Also what no page sends, so that its refusal has the headers of a page.
            for method in [HTTPRequest.Method.get, .post, .put, .delete, .patch, .options, .trace] {
                outer.open.on(path, method: method) { request, context in
                    try await responder.respond(to: request, context: context)
                }
            }
        }
    }
}

/// Refuses what no page of the console sends, turns errors into pages, and gives every answer its
/// headers.
struct ConsoleGuard: RouterMiddleware {
    typealias Context = StoreRequestContext
    let senders: SenderCheck
    /// Finds who is signed in, who keeps the navigation on a page that says what went wrong.
    let visitor: @Sendable (Request) -> Visitor?
    let logger: Logger

    func handle(
        _ request: Request,
        context: StoreRequestContext,
        next: (Request, StoreRequestContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            try senders.check(request.head)
            response = try await next(request, context)
        } catch let error where error is CancellationError || error is HTTPParserError {
            throw error
        } catch var problem as HTTPProblem {
            // The command line reads problems; they have the headers of pages, too.
            PageHeaders.add(
                to: &problem.headers,
                isFile: false,
                isSecure: senders.origin.isSecure
            )
            throw problem
        } catch {
            response = answer(to: request, problem(for: error, request))
        }
        PageHeaders.add(
            to: &response.headers,
            isFile: request.uri.path.hasPrefix(AssetRoutes.folder) && response.status == .ok,
            isSecure: senders.origin.isSecure
        )
        return response
    }

    private func problem(for error: any Error, _ request: Request) -> ConsoleProblem {
        switch error {
        case let problem as ConsoleProblem: return problem
        case let error as OperatorError:
            // Whoever operates the store learns of it, too; a refusal tells them nothing.
            if error.status == nil || error.code == .unavailable {
                logger.error(
                    "a part of the store could not be read",
                    metadata: ["http.path": "\(request.uri.path)", "error": "\(error)"]
                )
            }
            return ConsoleProblem(reading: error)
        case is NIOTooManyBytesError:
            return ConsoleProblem(
                413,
                "The form is too long",
                "No form of the console is that long. Nothing was done."
            )
        case let error as Hummingbird.HTTPError where error.status == .notFound:
            return .notFound
        case let error as Hummingbird.HTTPError where error.status.kind == .clientError:
            return ConsoleProblem(
                error.status.code,
                "The request was refused",
                "No page of the console sends such a request."
            )
        default:
            logger.error(
                "a page failed",
                metadata: ["http.path": "\(request.uri.path)", "error": "\(error)"]
            )
            return ConsoleProblem(500, "The console failed", "Its log says why. The store goes on.")
        }
    }

    /// A person who is not signed in is led to the page for that; whatever else asks is refused.
    private func answer(to request: Request, _ problem: ConsoleProblem) -> Response {
        let isPage = request.headers[.accept]?.contains("text/html") == true
        let isRead = request.method == .get || request.method == .head
        if problem == .signedOut, isRead, isPage {
            return Response(status: .seeOther, headers: [.location: "/sign-in"])
        }
        return pageResponse(
            ProblemPage(
                problem: problem,
                visitor: visitor(request),
                isWorthRepeating: isRead && problem.status == 503
            ).html,
            HTTPResponse.Status(code: problem.status)
        )
    }
}
