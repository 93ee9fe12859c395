import HTTPTypes
public import Hummingbird
import Logging
import StoreTracing

/// Admits only merchants' servers, and answers as Apple's server does.
///
/// Errors are sent as ``ServerAPIError`` in plain JSON; an invalid token gets a bare 401.
public struct ServerAPIMiddleware: RouterMiddleware {
    /// The context of requests.
    public typealias Context = StoreRequestContext

    private let authenticator: ServerAPIAuthenticator

    /// Makes the middleware.
    ///
    /// - Parameter authenticator: Authenticates the sender of a request, and limits its rate.
    public init(authenticator: ServerAPIAuthenticator) { self.authenticator = authenticator }

    /// Passes on a request of a known server, and turns errors into Apple's.
    public func handle(
        _ request: Request,
        context: StoreRequestContext,
        next: (Request, StoreRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            let server = try authenticator.server(of: try token(of: request))
            try authenticator.admit(server)
            var context = context
            context.server = server
            return try await next(request, context)
        } catch let refusal as ServerAPIAuthenticator.Refusal {
            guard refusal.namesNoApp else { return Response(status: .unauthorized) }
            return ServerAPIError.invalidAppIdentifier.response()
        } catch let error as ServerAPIError {
            return error.response()
        } catch let problem as HTTPProblem {
            return answer(to: problem)
        } catch let error as any RetriableError where error.asksToTryAgain {
            context.logger.debug(
                "request failed for now",
                metadata: ["error": "\(error)", "trace": "\(context.trace.traceID)"]
            )
            return ServerAPIError.generalInternalRetryable.response()
        } catch is CancellationError {
            return ServerAPIError.generalInternalRetryable.response()
        } catch let error where !isParserError(error) && !(error is any HTTPResponseError) {
            context.logger.error(
                "a request of the server API failed",
                metadata: [
                    "error": "\(error)", "error.type": "\(type(of: error))",
                    "http.method": "\(request.method)",
                    "http.path": "\(shortened(request.uri.path))",
                    "trace": "\(context.trace.traceID)",
                ]
            )
            return ServerAPIError.generalInternal.response()
        }
    }

    private func token(of request: Request) throws -> Substring {
        let parts = (request.headers[.authorization] ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw ServerAPIAuthenticator.Refusal()
        }
        return parts[1]
    }

    /// The answer to a problem with the body, in Apple's form.
    private func answer(to problem: HTTPProblem) -> Response {
        switch problem.status.code {
        case 500...: ServerAPIError.generalInternalRetryable.response()
        default: ServerAPIError.generalBadRequest.response()
        }
    }
}

extension StoreRequestContext {
    /// The merchant's server that sent the request.
    ///
    /// - Throws: ``ServerAPIAuthenticator/Refusal`` on a route that does not require one.
    public func requireServer() throws -> AuthenticatedServer {
        guard let server else { throw ServerAPIAuthenticator.Refusal() }
        return server
    }
}
