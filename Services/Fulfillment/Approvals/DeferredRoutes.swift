import EventTypes
import Hummingbird
import ServiceKit
import StoreAPI

/// The administrators' route for transactions that wait for an approval (spec rule 35).
struct DeferredRoutes: Sendable {
    /// The number of transactions on a page.
    static let pageSize = 100

    let store: DeferredStore

    func add(to router: StoreRouter) {
        router.admin.get(RouterPath(Routes.adminDeferred), use: deferred)
    }

    @Sendable private func deferred(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        var cursor: DeferredStore.Cursor?
        if let text = request.uri.queryParameters.get("after") {
            guard let after = DeferredStore.Cursor(text) else { throw HTTPProblem.afterMalformed }
            cursor = after
        }
        let found = try await store.page(after: cursor, limit: Self.pageSize + 1)
        let page = Array(found.prefix(Self.pageSize))
        let last = page.last.map { DeferredStore.Cursor(of: $0).text }
        return try jsonResponse(
            DeferredResponse(next: found.count > page.count ? last : nil, transactions: page)
        )
    }
}
