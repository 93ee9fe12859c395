import EventTypes
import Hummingbird
import OperatorCore
import ServiceKit
import StoreAPI

/// Raises of the price for those who subscribe already: the form, and the job that does the work.
///
/// Subscriptions are read with the visitor's token, too, so this needs two scopes: read or support,
/// and merchandiser.
struct RaiseRoutes: Sendable {
    let jobs: JobRequests
    let desk: StoreDesk

    private var door: ConsoleDoor { jobs.acts.door }

    func add(to router: Router<StoreRequestContext>) {
        router.get("/products/:id/raise", use: ask)
        router.post("/products/:id/raise", use: count)
        router.get("/raises") { request, _ in
            let visitor = try visitor(of: request)
            let page = RaiseListPage(
                records: await jobs.board?.jobs(of: .raise) ?? [],
                visitor: visitor,
                unreadableCount: jobs.board?.unreadableCount ?? 0
            )
            return pageResponse(page.html)
        }
        router.get("/raises/:id", use: show)
        router.get("/raises/:id/live", use: live)
        router.post("/raises/:id/run") { try await raise($0, $1, isBegun: false) }
        router.post("/raises/:id/resume") { try await raise($0, $1, isBegun: true) }
        router.post("/raises/:id/stop") { request, context in
            _ = try visitor(of: request)
            return try await jobs.stop(.raise, request, context, as: .merchandiser)
        }
    }

    private func ask(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let visitor = try visitor(of: request)
        let product = try await subscription(of: context, visitor)
        let records = await jobs.board?.jobs(of: .raise) ?? []
        let page = RaiseFormPage(
            product: product,
            records: records.filter { $0.raise?.productID == product.id },
            visitor: visitor,
            canRaise: jobs.canDo(.raise)
        )
        return pageResponse(page.html)
    }

    /// Begins to count the subscriptions, which changes nothing.
    private func count(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let (visitor, form) = try await jobs.acts.asked(request, context, as: .merchandiser)
        try door.visits.require(.purchases, for: visitor)
        let product = try await subscription(of: context, visitor)
        let board = try jobs.requireBoard(for: .raise)
        let back = ConsoleProblem.Back(
            path: RaiseFormPage.path(of: product.id),
            words: "Back to the raise"
        )
        let work = try RaiseForm(form).work(of: product, back: back)
        let record = try await board.begin(
            JobRecord(
                .raise,
                id: jobs.newID(),
                by: jobs.decision("counted the subscriptions", by: visitor, nil),
                raise: work
            ),
            over: connection(of: visitor)
        )
        return JobRequests.go(to: JobPage.path(of: record))
    }

    private func show(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let visitor = try visitor(of: request)
        let (board, record) = try await jobs.job(.raise, of: context)
        guard let work = record.raise else { throw ConsoleProblem.notFound }
        let page = RaisePage(
            record: record,
            work: work,
            fields: await board.progress(of: record),
            visitor: visitor
        )
        return pageResponse(page.html)
    }

    private func live(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        _ = try visitor(of: request, isUse: false)
        let (board, record) = try await jobs.job(.raise, of: context)
        var fields = await board.progress(of: record)
        if let work = record.raise { fields.merge(RaisePage.fields(of: work)) { $1 } }
        return try LiveAnswer(stamp: JobPage.stamp(of: record), fields: fields).response()
    }

    /// Begins to raise those who were counted, or goes on with it.
    private func raise(
        _ request: Request,
        _ context: StoreRequestContext,
        isBegun: Bool
    ) async throws -> Response {
        let (visitor, form) = try await jobs.acts.asked(request, context, as: .merchandiser)
        try door.visits.require(.purchases, for: visitor)
        let board = try jobs.requireBoard(for: .raise)
        let (_, record) = try await jobs.job(.raise, of: context)
        let back = jobs.back(to: record)
        let reason = try ActFormRules.reason(in: form, back: back)
        if !isBegun {
            let count = record.raise?.counted?.raised ?? 0
            try ActFormRules.requireTyped("\(count)", in: form, back: back)
        }
        let words = isBegun ? "went on with it" : "began to raise"
        let decision = jobs.decision(words, by: visitor, reason)
        let connection = connection(of: visitor)
        try await jobs.acts.run("raise subscribers", on: "\(record.id)", by: visitor, back: back) {
            try await board.raise(record.id, isBegun: isBegun, by: decision, over: connection)
        }
        return JobRequests.go(to: JobPage.path(of: record))
    }

    /// The visitor of a request, who may see products and those who subscribe to them.
    private func visitor(
        of request: Request,
        isUse: Bool = true
    ) throws(ConsoleProblem) -> Visitor {
        let visitor = try door.visitor(of: request, seeing: .products, isUse: isUse)
        try door.visits.require(.purchases, for: visitor)
        return visitor
    }

    /// A connection with the visitor's own token, which the job keeps in memory while it works.
    private func connection(of visitor: Visitor) -> StoreConnection {
        desk.connection(to: .payments, token: visitor.session.token)
    }

    private func subscription(
        of context: StoreRequestContext,
        _ visitor: Visitor
    ) async throws -> Product {
        try await ProductRoutes.subscription(of: context, at: desk, visitor).product
    }
}
