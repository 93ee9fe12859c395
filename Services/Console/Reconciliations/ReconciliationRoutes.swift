import EventTypes
import Hummingbird
import OperatorCore
import ServiceKit
import StoreAPI

/// Reconciliations: their list, the findings of one, and what operators decide about it.
struct ReconciliationRoutes: Sendable {
    let jobs: JobRequests

    private var door: ConsoleDoor { jobs.acts.door }

    func add(to router: Router<StoreRequestContext>) {
        router.get("/reconciliations") { request, _ in
            let visitor = try door.visitor(of: request, seeing: .jobs)
            let page = ReconciliationListPage(
                records: await jobs.board?.jobs(of: .reconciliation) ?? [],
                visitor: visitor,
                canReconcile: jobs.canDo(.reconciliation),
                unreadableCount: jobs.board?.unreadableCount ?? 0
            )
            return pageResponse(page.html)
        }
        router.get("/reconciliations/:id") { request, context in
            let visitor = try door.visitor(of: request, seeing: .jobs)
            let (board, record) = try await jobs.job(.reconciliation, of: context)
            let page = ReconciliationPage(
                record: record,
                fields: await board.progress(of: record),
                visitor: visitor
            )
            return pageResponse(page.html)
        }
        router.get("/reconciliations/:id/live") { try await jobs.live(.reconciliation, $0, $1) }
        router.post("/reconciliations", use: begin)
        router.post("/reconciliations/:id/stop") { try await jobs.stop(.reconciliation, $0, $1) }
    }

    private func begin(_ request: Request, _ context: StoreRequestContext) async throws -> Response
    {
        let (visitor, form) = try await jobs.acts.asked(request, context, as: .operator)
        let board = try jobs.requireBoard(for: .reconciliation)
        let reason = try ActFormRules.reason(in: form, back: ReconciliationPage.back)
        let id = jobs.newID()
        let decision = jobs.decision("began it", by: visitor, reason)
        let record = try await jobs.acts.run(
            "reconcile",
            on: "\(id)",
            by: visitor,
            back: ReconciliationPage.back
        ) {
            try await board.begin(JobRecord(.reconciliation, id: id, by: decision))
        }
        return JobRequests.go(to: JobPage.path(of: record))
    }
}
