import EventTypes
import HTTPTypes
import Hummingbird
import ServiceKit
import StoreAPI

/// The HTTP routes for buyers' requests for refunds.
///
/// A buyer reaches their own purchases only; administrators reach every request.
struct RefundRequestRoutes: Sendable {
    /// The number of requests on a page.
    static let pageSize = 100

    let requests: RefundRequestHandler

    func add(to router: StoreRouter) {
        router.account
            .get(RouterPath("\(Routes.transactions)/:id/refund-requests"), use: ownRequests)
            .post(RouterPath("\(Routes.transactions)/:id/refund-requests"), use: ask)
        router.admin
            .get(RouterPath(Routes.adminRefundRequests), use: allRequests)
            .get(RouterPath("\(Routes.adminRefundRequests)/:id/:number"), use: anyRequest)
            .post(RouterPath("\(Routes.adminRefundRequests)/:id/:number/decision"), use: decide)
    }

    @Sendable
    private func ask(_ request: Request, _ context: StoreRequestContext) async throws -> Response {
        let account = try context.requireAccountKey()
        let key = try request.requireIdempotencyKey()
        let body = try await decodeBody(BuyerRefundRequest.self, from: request)
        if case .unknown = body.reason {
            throw HTTPProblem.badRequest(
                "refund_reason_unknown",
                "The reason is unknown",
                "Send one of these: \(RefundReason.all.map(\.rawValue).joined(separator: ", "))."
            )
        }
        let reply = try await requests.ask(
            for: try context.transactionInPath(),
            because: body.reason,
            under: key,
            of: account,
            trace: context.trace
        )
        switch reply {
        case .unknown: throw HTTPProblem.transactionUnknown
        case .refused(let refusal, let transaction): throw refusal.problem(of: transaction)
        case .done(let request), .accepted(let request):
            return try jsonResponse(BuyerRefundResponse(request: request), status: .created)
        }
    }

    @Sendable
    private func ownRequests(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let account = try context.requireAccountKey()
        guard
            let found = try await requests.requests(
                for: try context.transactionInPath(),
                of: account
            )
        else {
            throw HTTPProblem.transactionUnknown
        }
        return try jsonResponse(RefundRequestsResponse(requests: found))
    }

    @Sendable
    private func allRequests(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let parameters = request.uri.queryParameters
        var state: ListedRefundState?
        if let text = parameters.get("state") {
            state = ListedRefundState(rawValue: text)
            guard state != nil else {
                throw HTTPProblem.queryInvalid(
                    "`state` must be open, approved, declined or failed."
                )
            }
        }
        var place: RefundRequestPlace?
        if let text = parameters.get("after") {
            place = RefundRequestPlace(text)
            guard place != nil else {
                throw HTTPProblem.badRequest(
                    "after_malformed",
                    "`after` is not where a page ended",
                    "Send `next` of the page before, or nothing for the first page."
                )
            }
        }
        var transaction: TransactionID?
        if let text = parameters.get("transactionID") {
            transaction = TransactionID(rawValue: text)
            guard transaction != nil else { throw HTTPProblem.transactionUnknown }
        }
        let found = try await requests.page(
            in: state,
            of: transaction,
            after: place,
            limit: Self.pageSize + 1
        )
        let page = Array(found.prefix(Self.pageSize))
        let next = found.count > page.count ? page.last : nil
        return try jsonResponse(
            RefundRequestsResponse(
                requests: page,
                next: next.map { RefundRequestPlace(of: $0).text }
            )
        )
    }

    @Sendable
    private func anyRequest(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        guard
            let found = try await requests.request(
                try number(context),
                for: try context.transactionInPath()
            )
        else { throw HTTPProblem.refundRequestUnknown }
        return try jsonResponse(found)
    }

    /// Decides a request; answers with 202 if the processor has not confirmed the refund yet.
    @Sendable
    private func decide(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let body = try await decodeBody(RefundDecisionRequest.self, from: request)
        let decision: RefundDecision =
            body.decision == .approve
            ? .approve(amount: body.amount, revokes: body.revokes) : .decline
        let reply = try await requests.decide(
            decision,
            on: try number(context),
            for: try context.transactionInPath(),
            by: try context.act(because: body.reason),
            trace: context.trace
        )
        switch reply {
        case .unknown: throw HTTPProblem.refundRequestUnknown
        case .refused(let refusal, let transaction): throw refusal.problem(of: transaction)
        case .done(let response): return try jsonResponse(response)
        case .accepted(let response): return try jsonResponse(response, status: .accepted)
        }
    }

    private func number(_ context: StoreRequestContext) throws -> Int {
        guard let number = context.parameters.get("number").flatMap({ Int32($0) }) else {
            throw HTTPProblem.refundRequestUnknown
        }
        return Int(number)
    }
}

extension HTTPProblem {
    /// The purchase has no request for a refund of that number.
    fileprivate static let refundRequestUnknown = HTTPProblem(
        .notFound,
        code: "refund_request_unknown",
        title: "The request is unknown",
        detail: "There is no such request for a refund."
    )
}
