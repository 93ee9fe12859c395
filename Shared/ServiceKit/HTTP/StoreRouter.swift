import HTTPTypes
public import Hummingbird
public import Logging
import Postgres
import StoreAPI
public import StoreTracing
import Tracing

/// The routes of a service, in groups by whose token they ask for.
///
/// Every error that a handler throws, an unknown route and a missing token included, is answered
/// with `application/problem+json`. `/health/live`, `/health/ready` and `/metrics` are there already
/// and ask for no token.
public struct StoreRouter {
    /// Routes that ask for an account token.
    public let account: RouterGroup<StoreRequestContext>
    /// Routes that ask for an administrator token.
    public let admin: RouterGroup<StoreRequestContext>
    /// Routes that ask for no token.
    public let open: RouterGroup<StoreRequestContext>

    private let router: Router<StoreRequestContext>
    private let table = RouteTable()

    init(
        authenticator: Authenticator,
        readiness: [ReadinessCheck],
        metrics: PrometheusMetrics,
        databaseWaitMax: Duration,
        spans: SpanRecorder,
        logger: Logger
    ) {
        router = Router(context: StoreRequestContext.self, options: [.autoGenerateHeadEndpoints])
        router.add(
            middleware:
                EdgeMiddleware(
                    table: table,
                    databaseWaitMax: databaseWaitMax,
                    spans: spans,
                    logger: logger
                )
        )
        open = router.group()
        account = router.group().add(middleware: AccountMiddleware(authenticator: authenticator))
        admin = router.group().add(
            middleware: AdministratorMiddleware(authenticator: authenticator)
        )
        addHealthRoutes(to: open, readiness: readiness, metrics: metrics)
    }

    /// Every route that was added, as its method and path: `GET /v1/transactions/{id}`.
    ///
    /// That every GET is answered as HEAD is not told.
    public var routes: Set<String> {
        Set(router.routes.filter { $0.method != .head }.map { "\($0.method) \($0.path)" })
    }

    /// Makes what answers requests; routes added later are not seen.
    public func buildResponder() -> RouterResponder<StoreRequestContext> {
        table.fill(router.routes.map { ($0.path, $0.method) })
        return router.buildResponder()
    }
}

/// Makes the routes of a service.
///
/// - Parameters:
///   - authenticator: Tells who sent a request.
///   - readiness: What `/health/ready` asks; see ``ReadinessCheck``.
///   - databaseWaitMax: How long one request may wait for the database before it is answered 503.
///   - spans: Takes a span of each request.
///   - logger: The service's own; requests are logged with it.
/// - Returns: The routes, to add the service's own to.
public func storeRouter(
    authenticator: Authenticator,
    readiness: [ReadinessCheck],
    databaseWaitMax: Duration = .seconds(10),
    spans: SpanRecorder = .off,
    logger: Logger
) -> StoreRouter {
    StoreRouter(
        authenticator: authenticator,
        readiness: readiness,
        metrics: .shared,
        databaseWaitMax: databaseWaitMax,
        spans: spans,
        logger: logger
    )
}

/// Turns errors into problems and measures requests; the outermost of all.
struct EdgeMiddleware: RouterMiddleware {
    typealias Context = StoreRequestContext
    let table: RouteTable
    let databaseWaitMax: Duration
    let spans: SpanRecorder
    let logger: Logger
    private let metrics = RequestMetrics()

    init(table: RouteTable, databaseWaitMax: Duration, spans: SpanRecorder, logger: Logger) {
        self.table = table
        self.databaseWaitMax = databaseWaitMax
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
            // The connection's own business: it answers 400 and closes.
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
        span?.end(context.endpointPath, request.method, response.status)
        metrics.record(
            route: context.endpointPath ?? "unknown",
            method: request.method,
            status: response.status,
            duration: ContinuousClock.now - start
        )
        return response
    }

    /// Refuses a request that does not say which host it is for (RFC 9112, section 3.2).
    ///
    /// Requests of HTTP/1.0 get here with a host; see ``RequestHeadHandler``.
    private func requireHost(_ request: Request) throws {
        guard request.head.authority == nil else { return }
        throw HTTPProblem(
            .badRequest,
            code: "host_invalid",
            title: "The Host header is missing",
            detail: "A request of HTTP/1.1 has exactly one Host header."
        )
    }

    /// The body, after which the connection is closed.
    private func closing(_ body: ResponseBody, context: StoreRequestContext) -> ResponseBody {
        let channel = context.channel
        return ResponseBody(contentLength: body.contentLength) { writer in
            try await body.write(writer)
            channel.close(promise: nil)
        }
    }
}

/// Lets only requests with an account token through.
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

/// Lets only requests with an administrator token through.
struct AdministratorMiddleware: RouterMiddleware {
    typealias Context = StoreRequestContext
    let authenticator: Authenticator

    func handle(
        _ request: Request,
        context: StoreRequestContext,
        next: (Request, StoreRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.administrator = try authenticator.administrator(
            of: bearerToken(of: request, "an administrator")
        )
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
