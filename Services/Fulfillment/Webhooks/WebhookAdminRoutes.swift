import EventTypes
import Hummingbird
import ServiceKit
import StoreAPI

/// What administrators ask of webhooks: to be sent again.
struct WebhookAdminRoutes: Sendable {
    let webhooks: WebhookHandler
    /// Told after the commit that there is something to send.
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
