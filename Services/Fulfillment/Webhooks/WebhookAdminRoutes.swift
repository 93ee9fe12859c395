import EventTypes
import Hummingbird
import ServiceKit
import StoreAPI

/// The administrators' route for sending webhooks again.
struct WebhookAdminRoutes: Sendable {
    let webhooks: WebhookHandler
    /// Called after the commit, when a webhook is due.
    let wake: @Sendable () -> Void

    func add(to router: StoreRouter) {
        router.admin.post(RouterPath("\(Routes.adminTransactions)/:id/webhooks"), use: sendAgain)
    }

    @Sendable private func sendAgain(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        guard let id = context.transactionID, let count = try await webhooks.sendAgain(id) else {
            throw HTTPProblem(
                .notFound,
                code: "transaction_unknown",
                title: "There is no such transaction",
                detail: "fulfillment has delivered nothing under that id."
            )
        }
        wake()
        return try jsonResponse(WebhooksAgainResponse(webhooks: count), status: .accepted)
    }
}
