import ClockAndIDs
import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import OperatorCore
import ServiceKit

/// The search, and the pages of a purchase and an account.
struct LookingRoutes: Sendable {
    let door: ConsoleDoor
    let desk: StoreDesk
    let lost: LostRefunds
    /// The path of the page of a job; `nil` if there is no such job that the visitor may see.
    let job: @Sendable (EventID, Visitor) async -> String?
    /// Shared by all pages of purchases that are open.
    let stamps = NewestStamps(now: { .now() })

    func add(to router: Router<StoreRequestContext>) {
        router.get("/search", use: search)
        router.get("/purchases/:id", use: purchase)
        router.get("/purchases/:id/live", use: live)
        router.get("/accounts/:id", use: account)
    }

    /// The transaction that a path names.
    static func transaction(of context: StoreRequestContext) throws(ConsoleProblem) -> TransactionID
    {
        guard let id = context.parameters.get("id").flatMap({ TransactionID(rawValue: $0) }) else {
            throw .notFound
        }
        return id
    }

    private func search(_ request: Request, _: StoreRequestContext) async throws -> Response {
        let visitor = try door.visitor(of: request, seeing: .purchases)
        let text = SearchText(FormFields(request.uri.query ?? "")?["q"] ?? "")
        if let path = try await path(of: text, for: visitor) {
            return Response(status: .seeOther, headers: [.location: path])
        }
        let words = text.words(for: visitor)
        let page = SearchPage(query: text.text, lookedFor: words, visitor: visitor)
        return pageResponse(page.html)
    }

    private func path(of text: SearchText, for visitor: Visitor) async throws -> String? {
        // The records of jobs are at hand; no database has to be asked.
        if let id = text.event, let path = await job(id, visitor) { return path }
        return try await desk.path(of: text, for: visitor)
    }

    private func purchase(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let visitor = try door.visitor(of: request, seeing: .purchases)
        let id = try Self.transaction(of: context)
        let sent = lost.refund(of: id)
        let page = PurchasePage(
            story: try await desk.story(of: id),
            visitor: visitor,
            key: RandomSecret.make(),
            lost: sent,
            done: request.uri.queryParameters.get("done").flatMap { PurchasePage.Act(rawValue: $0) }
        )
        // Nothing is left to repeat.
        if let sent, !page.canBeRefunded { lost.forget(sent) }
        return pageResponse(page.html)
    }

    private func live(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        _ = try door.visitor(of: request, seeing: .purchases, isUse: false)
        let id = try Self.transaction(of: context)
        let stamp = try await stamps.stamp(of: id) {
            PurchasePage.stamp(of: try await desk.story(of: id))
        }
        return try LiveAnswer(stamp: stamp).response()
    }

    private func account(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let visitor = try door.visitor(of: request, seeing: .purchases)
        guard let text = context.parameters.get("id")?.removingPercentEncoding,
            let id = AccountID(rawValue: text)
        else { throw ConsoleProblem.notFound }
        let before = request.uri.queryParameters.get("before").flatMap {
            TransactionID(rawValue: String($0))
        }
        let found = try await desk.account(id, before: before)
        let page = AccountPage(
            story: found.story,
            holdings: found.holdings,
            money: found.money,
            visitor: visitor,
            now: found.now
        )
        return pageResponse(page.html)
    }
}
