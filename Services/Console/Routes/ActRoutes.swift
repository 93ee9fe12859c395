import EventTypes
import HTTPTypes
import Hummingbird
import OperatorCore
import ServiceKit
import StoreAPI

/// Acts about purchases: refunds, approvals, webhooks that are sent again, and resumptions.
struct ActRoutes: Sendable {
    let acts: ActRunner
    let desk: StoreDesk
    let lost: LostRefunds

    func add(to router: Router<StoreRequestContext>) {
        router.post("/purchases/:id/refund") { request, context in
            let (visitor, form) = try await acts.asked(request, context, as: .support)
            let id = try LookingRoutes.transaction(of: context)
            let back = ActFormRules.back(to: id)
            // The form that repeats a refund has its key alone.
            let reason = try form["repeat"] == nil ? ActFormRules.reason(in: form, back: back) : nil
            let key = try ActFormRules.key(in: form)
            let token = visitor.session.token
            let transaction = try await desk.transaction(id, token: token)
            let order = ActFormRules.order(of: transaction)
            try ActFormRules.requireOrder(order, in: form, of: id)
            let refund: SentRefund
            if let reason {
                let request = try RefundForm.request(
                    of: transaction.price.currency,
                    because: reason,
                    in: form,
                    back: back
                )
                refund = SentRefund(transactionID: id, key: key, request: request)
            } else {
                refund = try lost.repeated(key, of: id)
            }
            let isFirst = try lost.begin(refund)
            try await acts.run("refund", on: "\(id)", by: visitor, back: back) {
                do {
                    try await desk.refund(id, refund.request, key: key, token: token)
                    lost.forget(refund)
                } catch let error as OperatorError {
                    // The refusal of a repetition says nothing about the request before it.
                    if error.isVerdictOnRefund || isFirst && !error.mayHaveActed {
                        lost.forget(refund)
                    }
                    throw error
                }
            }
            return done(.refund, id)
        }
        router.post("/purchases/:id/approval") { request, context in
            let (visitor, form) = try await acts.asked(request, context, as: .support)
            let id = try LookingRoutes.transaction(of: context)
            let back = ActFormRules.back(to: id)
            let reason = try ActFormRules.reason(in: form, back: back)
            let decision = try ActFormRules.decision(in: form)
            try await acts.run(decision.rawValue, on: "\(id)", by: visitor, back: back) {
                try await desk.decide(id, decision, reason: reason, token: visitor.session.token)
            }
            return done(decision == .approve ? .approve : .decline, id)
        }
        router.post("/purchases/:id/webhooks") { request, context in
            let (visitor, _) = try await acts.asked(request, context, as: .support)
            let id = try LookingRoutes.transaction(of: context)
            let back = ActFormRules.back(to: id)
            try await acts.run("send webhooks again", on: "\(id)", by: visitor, back: back) {
                try await desk.resendWebhooks(of: id, token: visitor.session.token)
            }
            return done(.resend, id)
        }
        router.post("/purchases/:id/resumption") { request, context in
            let (visitor, _) = try await acts.asked(request, context, as: .support)
            let id = try LookingRoutes.transaction(of: context)
            let back = ActFormRules.back(to: id)
            try await acts.run("resume", on: "\(id)", by: visitor, back: back) {
                try await desk.resume(id, token: visitor.session.token)
            }
            return done(.resume, id)
        }
    }

    private func done(_ act: PurchasePage.Act, _ id: TransactionID) -> Response {
        Response(
            status: .seeOther,
            headers: [.location: "/purchases/\(id)?done=\(act.rawValue)"]
        )
    }
}
