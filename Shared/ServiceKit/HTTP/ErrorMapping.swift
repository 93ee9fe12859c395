import HTTPTypes
import Hummingbird
import Logging
import StoreAPI
import StoreTracing

/// The one place where errors become HTTP responses.
///
/// A problem is sent as it is. A retriable failure becomes `503 try_again`, and so does one whose
/// outcome is unknown. Anything else becomes `500 internal` with an incident id; only the log has
/// the details.
enum ErrorMapping {
    static func problem(
        for error: any Error,
        request: Request,
        table: RouteTable,
        trace: TraceContext,
        logger: Logger
    ) -> HTTPProblem {
        var problem = mapped(error, request: request, table: table, trace: trace, logger: logger)
        if hasMuchBodyLeft(request) {
            problem.closesConnection = true
        }
        return problem
    }

    private static func mapped(
        _ error: any Error,
        request: Request,
        table: RouteTable,
        trace: TraceContext,
        logger: Logger
    ) -> HTTPProblem {
        switch error {
        case let problem as HTTPProblem:
            return problem
        case let error as any RetriableError where error.asksToTryAgain:
            logger.debug(
                "request failed for now",
                metadata: ["error": "\(error)", "trace": "\(trace.traceID)"]
            )
            if error.isOutcomeUnknown {
                return .tryAgain(
                    "Nobody knows yet whether this was done. Ask again: it is not done twice."
                )
            }
            return .tryAgain("The service cannot reach what it needs at present. Try again.")
        case is CancellationError:
            return .tryAgain("The service is shutting down. Try again.")
        case let error as Hummingbird.HTTPError:
            return routed(error, request: request, table: table)
        default:
            return incident(error, request: request, trace: trace, logger: logger)
        }
    }

    private static func routed(
        _ error: Hummingbird.HTTPError,
        request: Request,
        table: RouteTable
    ) -> HTTPProblem {
        if error.status == .notFound {
            let path = request.uri.path
            let methods = table.methods(of: path)
            if !methods.isEmpty, !methods.contains(request.method.rawValue) {
                return .methodNotAllowed(shortened(request.method.rawValue), allowed: methods)
            }
            return .notFound("There is no \(request.method) \(shortened(path)).")
        }
        let reason = error.status.reasonPhrase
        return HTTPProblem(
            error.status,
            code: reason.lowercased().replacing(" ", with: "_"),
            title: reason,
            detail: shortened(error.body ?? reason)
        )
    }

    private static func incident(
        _ error: any Error,
        request: Request,
        trace: TraceContext,
        logger: Logger
    ) -> HTTPProblem {
        let number = UInt64.random(in: .min ... .max)
        let digits = String(number, radix: 16)
        let incident = String(repeating: "0", count: 16 - digits.count) + digits
        logger.error(
            "request failed",
            metadata: [
                "incident": "\(incident)", "error": "\(error)", "error.type": "\(type(of: error))",
                "http.method": "\(request.method)", "http.path": "\(shortened(request.uri.path))",
                "trace": "\(trace.traceID)",
            ]
        )
        var problem = HTTPProblem(
            .internalServerError,
            code: "internal",
            title: "Internal error",
            detail: "The service failed. Its log has the details under incident \(incident)."
        )
        problem.problem.incident = incident
        return problem
    }

    /// Whether so much of the body is unread that, after an early refusal, reading it is not
    /// worthwhile.
    private static func hasMuchBodyLeft(_ request: Request) -> Bool {
        if request.headers[.transferEncoding] != nil { return true }
        guard let length = request.headers[.contentLength].flatMap({ Int($0) }) else {
            return false
        }
        return length > RequestBodyLimits.drained
    }
}
