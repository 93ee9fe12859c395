import EventTypes
import HTTPTypes
import Hummingbird
import ServiceKit
import StoreAPI
import Stripe

/// The HTTP routes with which buyers save payment methods.
///
/// No route takes the number of a card: the app gives it to the processor itself.
struct PaymentMethodRoutes: Sendable {
    /// `nil` if the processor has no saved methods.
    let methods: PaymentMethodHandler?

    let limit = AccountLimit(callsMax: 30)

    func add(to router: StoreRouter) {
        router.account
            .get(RouterPath(Routes.paymentMethods), use: list)
            .delete(RouterPath("\(Routes.paymentMethods)/:token"), use: remove)
            .post(RouterPath(Routes.paymentMethodSetups), use: begin)
            .post(RouterPath("\(Routes.paymentMethodSetups)/:id"), use: complete)
    }

    @Sendable
    private func list(_ request: Request, _ context: StoreRequestContext) async throws -> Response {
        try await answer(of: try handler(), try context.requireAccountKey())
    }

    /// Removes a method, and answers with those that are left.
    @Sendable
    private func remove(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let (account, handler) = (try context.requireAccountKey(), try handler())
        try limit.count(account, at: handler.now())
        let token = PaymentMethod(rawValue: context.parameters.get("token") ?? "")
        // The log has the path of a request that fails.
        guard !CardNumber.isIn(token.rawValue) else { throw HTTPProblem.cardNumberRefused }
        guard try await answered({ try await handler.remove(token, of: account) }) else {
            throw HTTPProblem(
                .notFound,
                code: "payment_method_unknown",
                title: "The payment method is unknown",
                detail: "The account has saved no such method. Ask for the list of those it has."
            )
        }
        return try await answer(of: handler, account)
    }

    /// Begins to save a method.
    ///
    /// Only its buyer gets the secret with which the app goes on.
    @Sendable
    private func begin(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let (account, handler) = (try context.requireAccountKey(), try handler())
        try limit.count(account, at: handler.now())
        let setup = try await answered { try await handler.begin(for: account) }
        guard let secret = setup.clientSecret else { throw Self.processorIsAway }
        return try jsonResponse(
            PaymentMethodSetupResponse(id: setup.id, clientSecret: secret.revealed),
            status: .created,
            headers: [.cacheControl: "no-store"]
        )
    }

    @Sendable
    private func complete(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let (account, handler) = (try context.requireAccountKey(), try handler())
        guard let id = context.parameters.get("id") else { throw Self.setupUnknown }
        try limit.count(account, at: handler.now())
        switch try await answered({ try await handler.complete(id, for: account) }) {
        case .unknown: throw Self.setupUnknown
        case .unfinished:
            throw HTTPProblem(
                .conflict,
                code: "setup_unfinished",
                title: "The payment method is not saved yet",
                detail: """
                    The buyer has not finished at the processor, or it has refused the method. Ask again \
                    when the buyer is done, or begin another setup.
                    """
            )
        case .saved: return try await answer(of: handler, account)
        }
    }

    private func answer(
        of handler: PaymentMethodHandler,
        _ account: AccountKey
    ) async throws -> Response {
        try jsonResponse(
            PaymentMethodsResponse(
                paymentMethods: try await handler.methods(of: account).map {
                    PaymentMethodListing(
                        paymentMethod: $0.token,
                        brand: $0.brand,
                        lastFour: $0.lastFour,
                        expiryMonth: $0.expiryMonth,
                        expiryYear: $0.expiryYear
                    )
                }
            ),
            headers: [.cacheControl: "no-store"]
        )
    }

    private func handler() throws -> PaymentMethodHandler {
        guard let methods else {
            throw HTTPProblem(
                .notFound,
                code: "payment_methods_not_saved",
                title: "This store saves no payment methods",
                detail: "Its payments name a method of its processor directly."
            )
        }
        return methods
    }

    /// Asks the processor, and turns a failure of its into an answer.
    private func answered<R>(_ ask: () async throws -> R) async throws -> R {
        do { return try await ask() } catch is StripeFailure { throw Self.processorIsAway }
    }

    private static var processorIsAway: HTTPProblem {
        .tryAgain("The payment processor does not answer.")
    }

    private static var setupUnknown: HTTPProblem {
        HTTPProblem(
            .notFound,
            code: "setup_unknown",
            title: "The setup is unknown",
            detail: "The account has begun no such setup of a payment method. Begin a new one."
        )
    }
}
