import EventTypes
import Hummingbird
import NIOCore
import ServiceKit
import StoreAPI

/// The routes for everything an account has bought, finished or not (spec rule 105).
struct HistoryRoutes: Sendable {
    /// The number of transactions on a page.
    static let pageSize = 100

    let store: QueueReadStore

    func add(to router: StoreRouter) {
        router.account
            .get(RouterPath(Routes.history), use: history)
            .get(RouterPath(Routes.entitlementTransactions), use: entitlementTransactions)
    }

    @Sendable private func history(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let page = try await store.changes(
            in: try context.requireQueue(),
            after: try Self.after(request),
            limit: Self.pageSize
        )
        return Self.response(page)
    }

    @Sendable private func entitlementTransactions(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let page = try await store.entitlementTransactions(
            in: try context.requireQueue(),
            after: try Self.after(request),
            limit: Self.pageSize
        )
        return Self.response(page)
    }

    private static func after(_ request: Request) throws -> Int64 {
        guard let text = request.uri.queryParameters["after"] else { return 0 }
        guard let after = Int64(text), after >= 0 else {
            throw HTTPProblem.afterMalformed
        }
        return after
    }

    /// Writes the same document as an encoded ``HistoryResponse``, from bytes that are already
    /// JSON.
    private static func response(_ page: QueuePage) -> Response {
        var body = ByteBuffer(string: "{")
        // A page may be full of changes that the document leaves out, and still have a next one.
        if !page.isComplete, let next = page.lastRevision {
            body.writeString("\"next\":\(next),")
        }
        body.writeQueueChanges(page.changes)
        body.writeString("}")
        return Response(
            status: .ok,
            headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: body)
        )
    }
}

extension HTTPProblem {
    /// `after` of a request for a page is not the `next` of another page.
    static let afterMalformed = HTTPProblem(
        .badRequest,
        code: "after_malformed",
        title: "`after` is not where a page ended",
        detail: "Send `next` of the page before, or nothing for the first page."
    )
}

extension ByteBuffer {
    /// Writes changes of a queue as the member `transactions` of a JSON object.
    mutating func writeQueueChanges(_ changes: [QueueChange]) {
        writeString("\"transactions\":[")
        writeElements(changes)
        writeString("]")
    }

    /// Writes changes of a queue as elements of a JSON list.
    mutating func writeElements(_ changes: [QueueChange]) {
        for (index, change) in changes.enumerated() {
            if index > 0 { writeString(",") }
            writeBytes(change.data)
        }
    }
}
