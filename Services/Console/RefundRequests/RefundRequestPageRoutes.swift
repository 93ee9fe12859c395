import EventTypes
import HTTPTypes
import Hummingbird
import OperatorCore
import ServiceKit
import StoreAPI

/// Buyers' requests for refunds: their list, the page of one, and the decision.
struct RefundRequestPageRoutes: Sendable {
    let acts: ActRunner
    let desk: StoreDesk
    let lost: LostRefunds

    func add(to router: Router<StoreRequestContext>) {
        router.get("/refund-requests") { request, _ in
            let visitor = try acts.door.visitor(of: request, seeing: .purchases)
            let query = try RefundRequestQuery(FormFields(request.uri.query ?? ""))
            let found = try await desk.refundRequests(query, token: visitor.session.token)
            let page = RefundRequestListPage(found: found, query: query, visitor: visitor)
            return pageResponse(page.html)
        }
        router.get("/refund-requests/:id/:number", use: show)
        router.post("/refund-requests/:id/:number/decision", use: decide)
    }

    private func show(_ request: Request, _ context: StoreRequestContext) async throws -> Response {
        let visitor = try acts.door.visitor(of: request, seeing: .purchases)
        let (id, number) = (
            try LookingRoutes.transaction(of: context), try Self.number(of: context)
        )
        let token = visitor.session.token
        let page = RefundRequestPage(
            found: try await desk.refundRequest(number, of: id, token: token),
            report: await desk.consumptionReport(on: id, token: token),
            visitor: visitor,
            hasLostRefund: lost.refund(of: id) != nil,
            isDecided: request.uri.queryParameters.get("done") != nil
        )
        return pageResponse(page.html)
    }

    private func decide(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let (visitor, form) = try await acts.asked(request, context, as: .support)
        let (id, number) = (
            try LookingRoutes.transaction(of: context), try Self.number(of: context)
        )
        let path = RefundRequestListPage.path(of: id, number)
        let back = ConsoleProblem.Back(path: path, words: "Back to the request")
        let reason = try ActFormRules.reason(in: form, back: back)
        let token = visitor.session.token
        let decision: RefundDecisionRequest
        switch try ActFormRules.decision(in: form) {
        case .approve:
            guard lost.refund(of: id) == nil else { throw Self.lostRefundFirst(id) }
            let transaction = try await desk.transaction(id, token: token)
            let order = ActFormRules.order(of: transaction)
            try ActFormRules.requireOrder(order, in: form, of: id)
            let refund = try RefundForm.request(
                of: transaction.price.currency,
                because: reason,
                in: form,
                back: back
            )
            decision = RefundDecisionRequest(
                decision: .approve,
                amount: refund.amount,
                revokes: refund.revokes,
                reason: reason
            )
        case .decline: decision = RefundDecisionRequest(decision: .decline, reason: reason)
        }
        let name = "\(decision.decision.rawValue) a refund request"
        try await acts.run(name, on: "\(id)/\(number)", by: visitor, back: back) {
            try await desk.decide(decision, on: number, of: id, token: token)
        }
        return Response(status: .seeOther, headers: [.location: "\(path)?done=decide"])
    }

    private static func number(of context: StoreRequestContext) throws(ConsoleProblem) -> Int {
        guard let number = context.parameters.get("number").flatMap({ Int($0) }) else {
            throw .notFound
        }
        return number
    }

    /// A part that is refunded twice would be twice the part.
    private static func lostRefundFirst(_ id: TransactionID) -> ConsoleProblem {
        ConsoleProblem(
            409,
            "Nothing was done: a refund of this purchase has no answer",
            "It may have been made. Open the purchase, and repeat that refund first.",
            back: ActFormRules.back(to: id)
        )
    }
}
