import EventTypes
import Hummingbird
import ServiceKit
import StoreAPI

/// Higher prices of single subscriptions: an administrator raises one, and the subscriber answers.
extension SubscriptionRoutes {
    func addPrices(to router: StoreRouter) {
        router.account
            .put(RouterPath("\(Routes.subscriptions)/:id/price-increase"), use: answerPrice)
        let anyIncrease = RouterPath("\(Routes.adminSubscriptions)/:id/price-increase")
        router.admin
            .put(anyIncrease, use: raisePrice)
            .delete(anyIncrease, use: withdrawRaise)
    }

    @Sendable
    private func answerPrice(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let key = try context.requireAccountKey()
        let body = try await decodeBody(PriceIncreaseDecisionRequest.self, from: request)
        return try await decide(
            .price(body.increaseID, isAgreed: body.decision == .agree),
            by: key,
            context
        )
    }

    @Sendable
    private func raisePrice(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let body = try await decodeBody(PriceIncreaseRequest.self, from: request)
        let act = try context.act(because: body.reason)
        return try await decide(
            .raise(body.productID, to: body.price, from: body.effectiveAt),
            act: act,
            context
        )
    }

    @Sendable
    private func withdrawRaise(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        try await decide(.withdrawRaise, act: try context.act(because: nil), context)
    }
}
