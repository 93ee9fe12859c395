public import HTTPTypes
public import Hummingbird
public import Logging
import Postgres
public import StoreAPI
public import StoreTracing
import Tracing

/// The routes of a service, grouped by the token they require.
///
/// Every error of a handler, and also an unknown route or a missing token, is answered with
/// `application/problem+json`. The router comes with `/health/live`, `/health/ready` and
/// `/metrics`, which require no token.
public struct StoreRouter {
    /// Routes that require an account token.
    public let account: RouterGroup<StoreRequestContext>
    /// Routes that require an administrator token.
    public let admin: RouterGroup<StoreRequestContext>
    /// Routes that require no token.
    public let open: RouterGroup<StoreRequestContext>

    private let router: Router<StoreRequestContext>
    private let table = RouteTable()

    init(
        authenticator: Authenticator,
        access: [String: Set<AdministratorScope>],
        readiness: [ReadinessCheck],
        metrics: PrometheusMetrics,
        databaseWaitMax: Duration,
        answerHeaders: HTTPFields,
        spans: SpanRecorder,
        logger: Logger
    ) {
        router = Router(context: StoreRequestContext.self, options: [.autoGenerateHeadEndpoints])
        router.add(
            middleware:
                EdgeMiddleware(
                    table: table,
                    databaseWaitMax: databaseWaitMax,
                    answerHeaders: answerHeaders,
                    spans: spans,
                    logger: logger
                )
        )
        open = router.group()
        account = router.group().add(middleware: AccountMiddleware(authenticator: authenticator))
        admin = router.group().add(
            middleware: AdministratorMiddleware(authenticator: authenticator, access: access)
        )
        addHealthRoutes(to: open, readiness: readiness, metrics: metrics)
    }

    /// Every route that was added, as its method and path: `GET /v1/transactions/{id}`.
    ///
    /// The HEAD form of each GET route is left out.
    public var routes: Set<String> {
        Set(router.routes.filter { $0.method != .head }.map { "\($0.method) \($0.path)" })
    }

    /// Makes the responder; routes added later are ignored.
    public func buildResponder() -> RouterResponder<StoreRequestContext> {
        table.fill(router.routes.map { ($0.path, $0.method) })
        return router.buildResponder()
    }
}

/// Makes the routes of a service.
///
/// - Parameters:
///   - authenticator: Authenticates the sender of a request.
///   - access: The scopes that open each of the administrators' routes.
///   - readiness: The checks of `/health/ready`; see ``ReadinessCheck``.
///   - databaseWaitMax: The longest time one request may wait for the database before it is
///     answered 503.
///   - answerHeaders: Headers that each answer gets, also of an error, unless it has them already.
///   - spans: Receives a span for each request.
///   - logger: The service's logger, which also logs requests.
/// - Returns: The routes, to which the service adds its own.
public func storeRouter(
    authenticator: Authenticator,
    access: [String: Set<AdministratorScope>] = AdministratorAccess.scopes,
    readiness: [ReadinessCheck],
    databaseWaitMax: Duration = .seconds(10),
    answerHeaders: HTTPFields = [:],
    spans: SpanRecorder = .off,
    logger: Logger
) -> StoreRouter {
    StoreRouter(
        authenticator: authenticator,
        access: access,
        readiness: readiness,
        metrics: .shared,
        databaseWaitMax: databaseWaitMax,
        answerHeaders: answerHeaders,
        spans: spans,
        logger: logger
    )
}

/// The outermost middleware: turns errors into problems and measures requests.
struct EdgeMiddleware: RouterMiddleware {
    typealias Context = StoreRequestContext
    let table: RouteTable
    let databaseWaitMax: Duration
    /// The headers that each answer gets, unless it has them already.
    let answerHeaders: HTTPFields
    let spans: SpanRecorder
    let logger: Logger
    private let metrics = RequestMetrics()

    init(
        table: RouteTable,
        databaseWaitMax: Duration,
        answerHeaders: HTTPFields,
        spans: SpanRecorder,
        logger: Logger
    ) {
        self.table = table
        self.databaseWaitMax = databaseWaitMax
        self.answerHeaders = answerHeaders
        self.spans = spans
        self.logger = logger
    }

    func handle(
        _ request: Request,
        context: StoreRequestContext,
        next: (Request, StoreRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        var context = context
        // The server's own logger is silenced; handlers get the service's.
        context.logger = logger
        let span = RequestSpan(of: request, &context, for: spans)
        var response: Response
        do {
            try requireHost(request)
            let budget = PostgresWaitBudget(databaseWaitMax)
            response = try await PostgresWaitBudget.$current.withValue(budget) {
                [context] in
                guard let place = span?.context else { return try await next(request, context) }
                return try await ServiceContext.withValue(place) {
                    try await next(request, context)
                }
            }
        } catch let error where isParserError(error) {
            // The connection handles this error itself: it answers 400 and closes.
            throw error
        } catch {
            let problem = ErrorMapping.problem(
                for: error,
                request: request,
                table: table,
                trace: context.trace,
                logger: logger
            )
            response = problem.response()
            if problem.closesConnection {
                response.body = closing(response.body, context: context)
            }
        }
        for field in answerHeaders where !response.headers.contains(field.name) {
            response.headers.append(field)
        }
        span?.end(context.endpointPath, request.method, response.status)
        metrics.record(
            route: context.endpointPath ?? "unknown",
            method: request.method,
            status: response.status,
            duration: ContinuousClock.now - start
        )
        return response
    }

    /// Refuses a request that does not name its host (RFC 9112, section 3.2).
    ///
    /// Requests of HTTP/1.0 already have a host when they arrive here; see ``RequestHeadHandler``.
    private func requireHost(_ request: Request) throws {
        guard request.head.authority == nil else { return }
        throw HTTPProblem(
            .badRequest,
            code: "host_invalid",
            title: "The Host header is missing",
            detail: "A request of HTTP/1.1 has exactly one Host header."
        )
    }

    /// The body, extended to close the connection at its end.
    private func closing(_ body: ResponseBody, context: StoreRequestContext) -> ResponseBody {
        let channel = context.channel
        return ResponseBody(contentLength: body.contentLength) { writer in
            try await body.write(writer)
            channel.close(promise: nil)
        }
    }
}

/// Admits only requests with an account token.
struct AccountMiddleware: RouterMiddleware {
    typealias Context = StoreRequestContext
    let authenticator: Authenticator

    func handle(
        _ request: Request,
        context: StoreRequestContext,
        next: (Request, StoreRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.account = try authenticator.account(of: bearerToken(of: request, "an account"))
        return try await next(request, context)
    }
}

/// Admits only requests with an administrator token that has a scope of the route.
struct AdministratorMiddleware: RouterMiddleware {
    typealias Context = StoreRequestContext
    let authenticator: Authenticator
    /// The scopes of each route; any one of them opens it.
    let access: [String: Set<AdministratorScope>]

    func handle(
        _ request: Request,
        context: StoreRequestContext,
        next: (Request, StoreRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        let administrator = try authenticator.administrator(
            of: bearerToken(of: request, "an administrator")
        )
        let method = request.method == .head ? .get : request.method
        let route = "\(method) \(context.endpointPath ?? "")"
        guard let needed = access[route] else {
            throw ServiceKitError(.routes, "AdministratorAccess has no scope for \(route)")
        }
        guard !needed.isDisjoint(with: administrator.scopes) else {
            throw HTTPProblem.scopeMissing(
                needed,
                of: administrator.name,
                holding: administrator.scopes
            )
        }
        context.administrator = administrator
        return try await next(request, context)
    }
}

private func bearerToken(of request: Request, _ kind: String) throws -> Substring {
    guard let value = request.headers[.authorization] else {
        throw HTTPProblem.unauthorized("Send \(kind) token: Authorization: Bearer <token>.")
    }
    let parts = value.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else {
        throw HTTPProblem.unauthorized("The Authorization header is not Bearer <token>.")
    }
    return parts[1]
}
