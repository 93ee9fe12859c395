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
/// out later.
struct StripeWebhookRoutes: Sendable {
    /// The parts that a store with Stripe has; `nil` in another one.
    let parts: Parts?

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
    }

    @Sendable
    private func receive(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        guard let parts else {
            throw HTTPProblem(
                .notFound,
                code: "processor_not_used",
                title: "This store does not take money with Stripe",
                detail: "Its setting PROCESSOR names another processor."
            )
        }
        let body = try await collectBody(of: request, upTo: Self.bodyMax)
        let header = HTTPField.Name("stripe-signature").flatMap { request.headers[$0] }
        let bytes = body.readableBytesView
        guard parts.check().check(bytes, header: header, now: parts.handler.now()) == .genuine
        else {
            throw Self.refused(
                "Its signature fits no secret in STRIPE_WEBHOOK_SECRETS_FILE, or is too old."
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
