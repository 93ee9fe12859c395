import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import ServiceKit
import StoreAPI

/// The HTTP routes with which administrators test an app; a sandbox alone has them.
///
/// The routes contain no SQL and no rules.
struct TestRoutes: Sendable {
    let settings: TestSettingsHandler
    let subscriptions: SubscriptionHandler
    /// The disputes at the sandbox's processor; `nil` with another one.
    let disputes: SandboxDisputeHandler?

    func add(to router: StoreRouter) {
        let account = RouterPath("\(Routes.adminTest)/accounts/:account")
        router.admin
            .get(account, use: show)
            .put(account, use: set)
            .delete(account, use: reset)
            .post(RouterPath("\(Routes.adminTest)/transactions/:id/dispute"), use: dispute)
            .post(RouterPath("\(Routes.adminTest)/subscriptions/:id/renewal"), use: renew)
            .post(RouterPath("\(Routes.adminTest)/subscriptions/:id/expiry"), use: expire)
            .post(RouterPath("\(Routes.adminTest)/subscriptions/:id/resolution"), use: resolve)
            .post(RouterPath("\(Routes.adminTest)/subscriptions/:id/price-increase"), use: raise)
            .put(RouterPath("\(Routes.adminTest)/subscriptions/:id/price-increase"), use: answer)
    }

    @Sendable
    private func show(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let id = try context.accountInPath()
        let key = AccountKey(accountID: id, bundleID: try bundleID(request))
        return try jsonResponse(try await settings.settings(of: key))
    }

    @Sendable
    private func set(_ request: Request, _ context: StoreRequestContext) async throws -> Response {
        let id = try context.accountInPath()
        let body = try await decodeBody(TestSettingsDocument.self, from: request)
        if let times = body.failNext?.times, !(1...SimulatedFailure.timesMax).contains(times) {
            throw HTTPProblem.badRequest(
                "test_settings_invalid",
                "The settings are invalid",
                "failNext.times must be from 1 to \(SimulatedFailure.timesMax)."
            )
        }
        try await settings.set(body, of: id)
        return try jsonResponse(body)
    }

    @Sendable
    private func reset(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let id = try context.accountInPath()
        let none = TestSettingsDocument(bundleID: try bundleID(request))
        try await settings.set(none, of: id)
        return try jsonResponse(none)
    }

    @Sendable
    private func dispute(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let id = try context.transactionInPath()
        let body = try await decodeBody(TestDisputeRequest.self, from: request)
        switch try await disputes?.take(body.step, of: id) {
        case nil, .unknown: throw HTTPProblem.transactionUnknown
        case .refused:
            throw HTTPProblem(
                .conflict,
                code: "dispute_refused",
                title: "The dispute cannot take this step",
                detail: "Nothing was paid, nothing is left to dispute, or the dispute has ended."
            )
        case .done(let transaction):
            return try jsonResponse(TransactionResponse(transaction: transaction))
        }
    }

    @Sendable
    private func renew(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        try await decide(.charge(.nextPeriod), under: try request.idempotencyKey(), context)
    }

    @Sendable
    private func expire(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let body = try await decodeBody(TestExpiryRequest.self, from: request)
        return try await decide(.end(body.intent ?? .autoRenewDisabled), context)
    }

    @Sendable
    private func resolve(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        try await decide(.charge(.owedBy(SandboxPaymentMethod.success.method)), context)
    }

    @Sendable
    private func raise(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let body = try await decodeBody(TestPriceIncreaseRequest.self, from: request)
        return try await decide(.ask(body.price), context)
    }

    @Sendable
    private func answer(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let body = try await decodeBody(PriceIncreaseDecisionRequest.self, from: request)
        return try await decide(
            .price(body.increaseID, isAgreed: body.decision == .agree),
            context
        )
    }

    private func decide(
        _ decision: SubscriptionHandler.Decision,
        under key: IdempotencyKey? = nil,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let id = try context.subscriptionInPath()
        let reply = try await subscriptions.decide(
            decision,
            on: id,
            under: key,
            trace: context.trace
        )
        switch reply {
        case .unknown: throw HTTPProblem.subscriptionUnknown
        case .refused(let refusal): throw refusal.problem
        case .done(let subscription):
            return try jsonResponse(SubscriptionResponse(subscription: subscription))
        }
    }

    private func bundleID(_ request: Request) throws -> BundleID {
        guard
            let id = request.uri.queryParameters.get("bundleID").flatMap({ BundleID(rawValue: $0) })
        else {
            throw HTTPProblem.queryInvalid("Name the app: bundleID=com.example.app.")
        }
        return id
    }
}
