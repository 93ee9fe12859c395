import EventTypes
import Hummingbird
import ServiceKit
import StoreAPI
import Subscriptions

/// The HTTP routes for subscriptions.
///
/// Administrators reach any subscription; a buyer reaches only their own. The routes contain no SQL
/// and no rules.
struct SubscriptionRoutes: Sendable {
    /// The number of subscriptions on a page.
    static let pageSize = 100

    let subscriptions: SubscriptionHandler

    func add(to router: StoreRouter) {
        router.account
            .get(RouterPath(Routes.subscriptions), use: ownSubscriptions)
            .get(RouterPath("\(Routes.subscriptions)/:id"), use: ownSubscription)
            .put(RouterPath("\(Routes.subscriptions)/:id/auto-renew"), use: setOwnAutoRenew)
            .put(RouterPath("\(Routes.subscriptions)/:id/product"), use: chooseOwnProduct)
            .put(RouterPath("\(Routes.subscriptions)/:id/payment-method"), use: choosePaymentMethod)
            .get(RouterPath("\(Routes.introductoryOffers)/:group"), use: introductoryOffer)
        router.admin
            .get(RouterPath(Routes.adminSubscriptions), use: allSubscriptions)
            .get(RouterPath("\(Routes.adminSubscriptions)/:id"), use: anySubscription)
            .put(RouterPath("\(Routes.adminSubscriptions)/:id/auto-renew"), use: setAutoRenew)
            .put(RouterPath("\(Routes.adminSubscriptions)/:id/product"), use: chooseProduct)
            .post(RouterPath("\(Routes.adminSubscriptions)/:id/extensions"), use: extend)
        addPrices(to: router)
    }

    @Sendable
    private func ownSubscriptions(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let key = try context.requireAccountKey()
        return try jsonResponse(
            SubscriptionsResponse(subscriptions: try await subscriptions.subscriptions(of: key))
        )
    }

    @Sendable
    private func ownSubscription(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let key = try context.requireAccountKey()
        let id = try context.subscriptionInPath()
        return try answer(await subscriptions.subscription(id, of: key))
    }

    @Sendable
    private func setOwnAutoRenew(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let key = try context.requireAccountKey()
        return try await decide(.autoRenew(try await autoRenew(request).isOn), by: key, context)
    }

    @Sendable
    private func chooseOwnProduct(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let key = try context.requireAccountKey()
        return try await decide(.product(try await product(request).productID), by: key, context)
    }

    @Sendable
    private func choosePaymentMethod(_ request: Request, _ context: StoreRequestContext)
        async throws -> Response
    {
        let key = try context.requireAccountKey()
        let body = try await decodeBody(SubscriptionMethodRequest.self, from: request)
        guard !CardNumber.isIn(body.paymentMethod.rawValue) else {
            throw HTTPProblem.cardNumberRefused
        }
        return try await decide(.method(body.paymentMethod), by: key, context)
    }

    @Sendable
    private func introductoryOffer(_ request: Request, _ context: StoreRequestContext)
        async throws -> Response
    {
        let key = try context.requireAccountKey()
        guard
            let group = context.parameters.get("group")
                .flatMap({ SubscriptionGroupID(rawValue: $0) })
        else {
            throw HTTPProblem.badRequest(
                "group_malformed",
                "The group is not one",
                "It is not \(SubscriptionGroupID.form)."
            )
        }
        let isEligible = try await subscriptions.mayHaveIntroductoryOffer(of: group, key)
        return try jsonResponse(IntroductoryOfferResponse(groupID: group, isEligible: isEligible))
    }

    @Sendable
    private func allSubscriptions(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let parameters = request.uri.queryParameters
        let state = parameters.get("state").map { SubscriptionState(rawValue: $0) }
        if case .unknown = state {
            throw HTTPProblem.queryInvalid(
                "state is active, inGracePeriod, inBillingRetryPeriod, expired or revoked."
            )
        }
        var after: TransactionID?
        if let text = parameters.get("after") {
            guard let id = TransactionID(rawValue: text) else {
                throw HTTPProblem.badRequest(
                    "after_malformed",
                    "`after` is not where a page ended",
                    "Send `next` of the page before, or nothing for the first page."
                )
            }
            after = id
        }
        let found = try await subscriptions.page(
            in: state,
            after: after,
            limit: Self.pageSize + 1
        )
        let page = Array(found.prefix(Self.pageSize))
        return try jsonResponse(
            SubscriptionsResponse(
                subscriptions: page,
                next: found.count > page.count ? page.last?.id : nil
            )
        )
    }

    @Sendable
    private func anySubscription(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        try answer(await subscriptions.subscription(try context.subscriptionInPath()))
    }

    @Sendable
    private func setAutoRenew(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let body = try await autoRenew(request)
        let act = try context.act(because: body.reason)
        return try await decide(.autoRenew(body.isOn), act: act, context)
    }

    @Sendable
    private func chooseProduct(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let body = try await product(request)
        let act = try context.act(because: body.reason)
        return try await decide(.product(body.productID), act: act, context)
    }

    /// Extends the newest period, once for an `Idempotency-Key`.
    @Sendable
    private func extend(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let key = try request.requireIdempotencyKey()
        let body = try await decodeBody(ExtensionRequest.self, from: request)
        guard (1...RequestedExtension.daysMax).contains(body.days) else {
            throw HTTPProblem.extensionOutOfRange
        }
        let reply = try await subscriptions.extend(
            try context.subscriptionInPath(),
            by: RequestedExtension(
                id: key.rawValue,
                days: body.days,
                reasonCode: body.reasonCode?.rawValue ?? 0
            ),
            act: try context.act(because: body.reason),
            trace: context.trace
        )
        return try answer(reply)
    }

    private func autoRenew(_ request: Request) async throws -> AutoRenewRequest {
        try await decodeBody(AutoRenewRequest.self, from: request)
    }

    private func product(_ request: Request) async throws -> SubscriptionProductRequest {
        try await decodeBody(SubscriptionProductRequest.self, from: request)
    }

    func decide(
        _ decision: SubscriptionHandler.Decision,
        by key: AccountKey? = nil,
        act: Act? = nil,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let id = try context.subscriptionInPath()
        let reply = try await subscriptions.decide(
            decision,
            on: id,
            by: key,
            act: act,
            trace: context.trace
        )
        return try answer(reply)
    }

    private func answer(_ reply: SubscriptionHandler.Reply) throws -> Response {
        switch reply {
        case .unknown: throw HTTPProblem.subscriptionUnknown
        case .refused(let refusal): throw refusal.problem
        case .done(let subscription): return try answer(subscription)
        }
    }

    private func answer(_ subscription: Subscription?) throws -> Response {
        guard let subscription else { throw HTTPProblem.subscriptionUnknown }
        return try jsonResponse(SubscriptionResponse(subscription: subscription))
    }
}
