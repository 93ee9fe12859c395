import EventTypes
import HTTPTypes
import Hummingbird
import Logging
import OperatorCore
import ServiceKit
import StoreAPI

/// Refunds, approvals and declines, with the administrator's own token.
///
/// The console refuses what the visitor may not do, and the service refuses it again.
struct ActRoutes: Sendable {
    let door: ConsoleDoor
    let desk: StoreDesk

    func add(to router: Router<StoreRequestContext>) {
        router.post("/purchases/:id/refund") { request, context in
            let (id, visitor, form) = try await asked(request, context)
            let reason = try ActFormRules.reason(in: form, of: id)
            let key = try ActFormRules.key(in: form)
            let order = try await desk.order(of: id, token: visitor.session.token)
            try ActFormRules.requireOrder(order, in: form, of: id)
            try await act("refund", on: id, by: visitor) {
                try await desk.refund(id, key: key, reason: reason, token: visitor.session.token)
            }
            return done(.refund, id)
        }
        router.post("/purchases/:id/approval") { request, context in
            let (id, visitor, form) = try await asked(request, context)
            let reason = try ActFormRules.reason(in: form, of: id)
            let decision = try ActFormRules.decision(in: form)
            try await act(decision.rawValue, on: id, by: visitor) {
                try await desk.decide(id, decision, reason: reason, token: visitor.session.token)
            }
            return done(decision == .approve ? .approve : .decline, id)
        }
    }

    /// Reads a request for an act, and requires that its sender may ask for one.
    private func asked(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> (TransactionID, Visitor, FormFields) {
        let visitor = try door.visitor(of: request)
        let form = try await door.form(of: request)
        try door.visits.requireAct(by: visitor, form: form)
        return (try LookingRoutes.transaction(of: context), visitor, form)
    }

    /// Carries out an act and logs it; the reason is in the books, not in the log.
    private func act(
        _ name: String,
        on id: TransactionID,
        by visitor: Visitor,
        _ work: () async throws -> Void
    ) async throws {
        var metadata: Logger.Metadata = [
            "act": "\(name)", "administrator": "\(visitor.name)", "transaction.id": "\(id)",
        ]
        do {
            try await work()
            door.logger.info("an administrator acted", metadata: metadata)
        } catch let error as OperatorError {
            metadata["error"] = "\(PlainWords.firstLine(error.description))"
            let isLost = error.code == .unavailable
            let words = isLost ? "the answer to an act was lost" : "an act was refused"
            door.logger.info("\(words)", metadata: metadata)
            var problem =
                isLost
                ? ConsoleProblem.answerLost(PlainWords.firstLine(error.description))
                : ConsoleGuard.problem(for: error)
            problem.back = ActFormRules.back(to: id)
            throw problem
        }
    }

    private func done(_ act: PurchasePage.Act, _ id: TransactionID) -> Response {
        Response(
            status: .seeOther,
            headers: [.location: "/purchases/\(id)?done=\(act.rawValue)"]
        )
    }
}
