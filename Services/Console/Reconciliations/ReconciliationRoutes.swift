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
        router.post("/reconciliations") {
            try await jobs.begin(
                .reconciliation,
                as: "reconcile",
                back: ReconciliationPage.back,
                $0,
                $1
            )
        }
        router.post("/reconciliations/:id/stop") { try await jobs.stop(.reconciliation, $0, $1) }
    }
}
