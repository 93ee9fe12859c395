import EventTypes
import Hummingbird
import ServiceKit
import StoreAPI

/// The administrators' routes for transactions that apps have yet to finish (spec rule 58).
struct UnfinishedRoutes: Sendable {
    /// The number of transactions on a page.
    static let pageSize = 100

    let store: UnfinishedStore
    let now: @Sendable () -> StoreTime

    func add(to router: StoreRouter) {
        router.admin.get(RouterPath(Routes.adminUnfinished), use: unfinished)
    }

    @Sendable private func unfinished(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let parameters = request.uri.queryParameters
        let hours = parameters.get("olderThanHours") ?? "24"
        guard let hours = Int64(hours), (0...1_000_000).contains(hours) else {
            throw HTTPProblem(
                .badRequest,
                code: "query_invalid",
                title: "The query is invalid",
                detail: "olderThanHours is a whole number of hours; 24 unless given."
            )
        }
        var cursor: UnfinishedStore.Cursor?
        if let text = parameters.get("after") {
            guard let after = UnfinishedStore.Cursor(text) else {
                throw HTTPProblem.afterMalformed
            }
            cursor = after
        }
        let found = try await store.page(
            since: now().advanced(by: .seconds(-3600 * hours)),
            after: cursor,
            limit: Self.pageSize + 1
        )
        let page = found.prefix(Self.pageSize)
        return try jsonResponse(
            UnfinishedResponse(
                next: found.count > page.count ? page.last?.cursor.text : nil,
                transactions: page.map(\.transaction)
            )
        )
    }
}
