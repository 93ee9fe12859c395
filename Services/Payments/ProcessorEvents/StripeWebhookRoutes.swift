import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceKit
import StoreAPI
import Stripe

/// The way in for Stripe's webhooks.
///
/// The signature takes the place of a token. An event is stored and answered; what it means is found
/// out later. The path names the account at Stripe, and only that account's secrets count. So an event
/// is never taken for one of another account.
struct StripeWebhookRoutes: Sendable {
    /// The parts of each account at Stripe; a store that does not use Stripe has none.
    let parts: [ProcessorAccountName: Parts]

    struct Parts: Sendable {
        let handler: ProcessorEventHandler
        /// The check with the secrets that are in use now.
        let check: @Sendable () -> StripeSignatureCheck
    }

    /// The longest webhook that is read.
    ///
    /// Stripe's own are far shorter.
    static let bodyMax = 256 * 1024

    func add(to router: StoreRouter) {
        router.open.post(RouterPath(Routes.stripeEvents), use: receive)
        router.open.post(RouterPath(Routes.stripeAccountEvents(":account")), use: receive)
    }

    @Sendable
    private func receive(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let account = context.parameters.get("account").map { ProcessorAccountName(rawValue: $0) }
        guard let parts = parts[account ?? .default] else {
            throw HTTPProblem(
                .notFound,
                code: "processor_not_used",
                title: "This store does not take money with this account at Stripe",
                detail: "Its settings name another processor, or no such account."
            )
        }
        let body = try await collectBody(of: request, upTo: Self.bodyMax)
        let header = HTTPField.Name("stripe-signature").flatMap { request.headers[$0] }
        let bytes = body.readableBytesView
        guard parts.check().check(bytes, header: header, now: parts.handler.now()) == .genuine
        else {
            throw Self.refused(
                "Its signature fits no secret of the account's webhook, or is too old."
            )
        }
        guard let event = try? JSONDecoder().decode(StripeEvent.self, from: Data(bytes)) else {
            // It is Stripe's, and not even an event.
            throw Self.refused("It is not one of Stripe's events.")
        }
        try await parts.handler.store([event])
        return Response(status: .noContent)
    }

    private static func refused(_ detail: String) -> HTTPProblem {
        .badRequest("webhook_refused", "The webhook is refused", detail)
    }
}
