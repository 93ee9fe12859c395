public import EventTypes
public import HTTPTypes
public import StoreAPI

/// A refusal or failure that a handler throws; the edge sends it as `application/problem+json`.
///
/// It is also known as `HTTPError`; the name `HTTPProblem` is unambiguous where Hummingbird is
/// imported.
public struct HTTPProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The HTTP status.
    public var status: HTTPResponse.Status
    /// The body.
    public var problem: Problem
    /// The time after which a retry makes sense.
    public var retryAfter: Duration?
    /// Further headers of the answer.
    public var headers: HTTPFields = [:]
    /// Whether the connection is closed after the answer, because reading the rest of the request
    /// is not worthwhile.
    var closesConnection = false

    /// Makes a problem.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - code: The stable code: `stale_price`, `product_unknown`, …
    ///   - title: The code in words; the same for every problem of one code.
    ///   - detail: The error in this request, its location, and the remedy.
    ///   - currentPrice: With `stale_price`: the current price of the purchase.
    ///   - currentStorefront: With `storefront_changed`: the storefront in which the account buys
    ///     now.
    ///   - retryAfter: The time after which a retry makes sense.
    public init(
        _ status: HTTPResponse.Status,
        code: String,
        title: String,
        detail: String,
        currentPrice: Money? = nil,
        currentStorefront: Storefront? = nil,
        retryAfter: Duration? = nil
    ) {
        self.status = status
        self.retryAfter = retryAfter
        problem = Problem(
            code: code,
            title: title,
            status: status.code,
            detail: detail,
            currentPrice: currentPrice,
            currentStorefront: currentStorefront
        )
    }

    /// The stable code.
    public var code: String { problem.code }

    /// The status, the code and the detail, for logs.
    public var description: String { "\(status.code) \(problem.code): \(problem.detail)" }

    /// The named object does not exist, or is not visible to this account; the two are not
    /// distinguished.
    public static func notFound(_ detail: String) -> HTTPProblem {
        HTTPProblem(.notFound, code: "not_found", title: "Not found", detail: detail)
    }

    /// The path exists, but not with this method (RFC 9110, section 15.5.6).
    static func methodNotAllowed(_ method: String, allowed: [String]) -> HTTPProblem {
        let list = allowed.joined(separator: ", ")
        var problem = HTTPProblem(
            .methodNotAllowed,
            code: "method_not_allowed",
            title: "Method not allowed",
            detail: "This path answers \(list), and not \(method)."
        )
        problem.headers[.allow] = list
        return problem
    }

    /// The service cannot do it at present; a retry may help.
    public static func tryAgain(
        _ detail: String,
        retryAfter: Duration = .seconds(1)
    ) -> HTTPProblem {
        HTTPProblem(
            .serviceUnavailable,
            code: "try_again",
            title: "Temporarily unavailable",
            detail: detail,
            retryAfter: retryAfter
        )
    }

    /// It is unknown whether the request was carried out, and a retry would carry it out again.
    ///
    /// There is no `Retry-After`: the client must first check the outcome.
    ///
    /// - Parameter detail: Tells the client how to check.
    /// - Returns: The problem, 503 `outcome_unknown`.
    public static func outcomeUnknown(_ detail: String) -> HTTPProblem {
        HTTPProblem(
            .serviceUnavailable,
            code: "outcome_unknown",
            title: "The outcome is unknown",
            detail: detail
        )
    }

    /// The administrator's token has none of the scopes that open the route.
    static func scopeMissing(
        _ needed: Set<AdministratorScope>,
        of name: AdministratorName,
        holding scopes: Set<AdministratorScope>
    ) -> HTTPProblem {
        let names = needed.sorted().map(\.rawValue).joined(separator: " or ")
        let held = scopes.sorted().map(\.rawValue).joined(separator: ", ")
        return HTTPProblem(
            .forbidden,
            code: "scope_missing",
            title: "The token lacks a scope",
            detail: "This needs the scope \(names). The token of \(name) has "
                + "\(held.isEmpty ? "none" : held)."
        )
    }

    /// The request has no token, or an invalid one.
    static func unauthorized(_ detail: String) -> HTTPProblem {
        HTTPProblem(.unauthorized, code: "unauthorized", title: "Not authorized", detail: detail)
    }
}

/// The name under which handlers throw a problem.
public typealias HTTPError = HTTPProblem
