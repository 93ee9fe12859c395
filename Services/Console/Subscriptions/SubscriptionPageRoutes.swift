import ClockAndIDs
import EventTypes
import HTTPTypes
import Hummingbird
import OperatorCore
import ServiceKit
import StoreAPI

/// The list of subscriptions, the page of one, and what administrators do with it.
struct SubscriptionPageRoutes: Sendable {
    let acts: ActRunner
    let desk: StoreDesk
    /// Shared by all pages of subscriptions that are open.
    let stamps = NewestStamps(now: { .now() })

    private var door: ConsoleDoor { acts.door }

    func add(to router: Router<StoreRequestContext>) {
        router.get("/subscriptions", use: list)
        router.get("/subscriptions/:id", use: show)
        router.get("/subscriptions/:id/live", use: live)
        router.post("/subscriptions/:id/act", use: act)
    }

    private func list(_ request: Request, _: StoreRequestContext) async throws -> Response {
        let visitor = try door.visitor(of: request, seeing: .purchases)
        let query = try Self.query(FormFields(request.uri.query ?? ""))
        let listing = try await desk.subscriptions(query)
        let page = SubscriptionListPage(listing: listing, query: query, visitor: visitor)
        return pageResponse(page.html)
    }

    /// Reads which subscriptions are asked for; an empty field asks for all.
    static func query(_ fields: FormFields?) throws(ConsoleProblem) -> SubscriptionPageQuery {
        func text(_ name: String) -> String? {
            fields?[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        var query = SubscriptionPageQuery()
        if let account = text("account") {
            guard let id = AccountID(rawValue: account) else {
                throw ConsoleProblem(
                    400,
                    "This is not an account",
                    "An account is \(AccountID.form)."
                )
            }
            query.account = id
        }
        if let name = text("state") {
            let state = SubscriptionState(rawValue: name)
            if case .unknown = state {
                throw ConsoleProblem(
                    400,
                    "There is no such state",
                    "Choose one from the list."
                )
            }
            query.state = state
        }
        query.before = text("before").flatMap { TransactionID(rawValue: $0) }
        return query
    }

    private func show(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let visitor = try door.visitor(of: request, seeing: .purchases)
        let id = try LookingRoutes.transaction(of: context)
        let (listed, story) = try await desk.subscription(id)
        let page = SubscriptionLifePage(
            listed: listed,
            story: story,
            visitor: visitor,
            key: RandomSecret.make(),
            done: request.uri.queryParameters.get("done").flatMap { SubscriptionAct(rawValue: $0) }
        )
        return pageResponse(page.html)
    }

    private func live(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        _ = try door.visitor(of: request, seeing: .purchases, isUse: false)
        let id = try LookingRoutes.transaction(of: context)
        let stamp = try await stamps.stamp(of: id) {
            SubscriptionLifePage.stamp(of: try await desk.listed(id))
        }
        return try LiveAnswer(stamp: stamp).response()
    }

    private func act(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let (visitor, form) = try await acts.asked(request, context, as: .support)
        let id = try LookingRoutes.transaction(of: context)
        let back = ConsoleProblem.Back(
            path: "/subscriptions/\(id)",
            words: "Back to the subscription"
        )
        guard let act = form["act"].flatMap({ SubscriptionAct(rawValue: $0) }) else {
            throw ConsoleProblem(400, "The form cannot be read", "Nothing was done.", back: back)
        }
        let token = visitor.session.token
        switch act {
        case .cancel, .resume:
            let reason = try ActFormRules.reason(in: form, back: back)
            try await acts.run(act.rawValue, on: "\(id)", by: visitor, back: back) {
                try await desk.setAutoRenew(act == .resume, of: id, reason: reason, token: token)
            }
        case .charge:
            let reason = try ActFormRules.reason(in: form, back: back)
            // Twice would try the method twice, so it must still be what the page showed.
            let listed = try await desk.listed(id)
            guard form["stamp"] == SubscriptionLifePage.stamp(of: listed),
                SubscriptionLifePage.canChargeOwed(listed.subscription)
            else {
                throw ConsoleProblem(
                    409,
                    "Nothing was done: the subscription has gone on",
                    "It may have been charged meanwhile. Look at its life first.",
                    back: back
                )
            }
            try await acts.run(act.rawValue, on: "\(id)", by: visitor, back: back) {
                try await desk.chargeOwed(listed.subscription, reason: reason, token: token)
            }
        case .extend:
            let key = try ExtensionFields.key(in: form, back: back)
            let request = ExtensionRequest(
                days: try ExtensionFields.days(in: form, back: back),
                reasonCode: try ExtensionFields.code(in: form, back: back),
                reason: try ActFormRules.reason(in: form, back: back)
            )
            try await acts.extend(act.rawValue, on: "\(id)", by: visitor, back: back) {
                try await desk.extend(id, by: request, key: key, token: token)
            }
        case .retry, .renew:
            let key = try ActFormRules.key(in: form)
            try await acts.run(act.rawValue, on: "\(id)", by: visitor, back: back) {
                try await desk.charge(act, of: id, key: key, token: token)
            }
        }
        return Response(
            status: .seeOther,
            headers: [.location: "/subscriptions/\(id)?done=\(act.rawValue)"]
        )
    }
}
