import EventTypes
import Hummingbird
import OperatorCore
import ServiceKit
import StoreAPI

/// Reconciliations: their list, the findings of one, and what operators decide about it.
struct ReconciliationRoutes: Sendable {
    let jobs: JobRequests

    func add(to router: Router<StoreRequestContext>) {
        jobs.addRoutes(of: .reconciliation, at: "/reconciliations", to: router) {
            records,
            unreadable,
            visitor in
            let page = ReconciliationListPage(
                records: records,
                visitor: visitor,
                canReconcile: jobs.canDo(.reconciliation),
                unreadableCount: unreadable
            )
            return pageResponse(page.html)
        } page: { record, fields, visitor in
            pageResponse(ReconciliationPage(record: record, fields: fields, visitor: visitor).html)
        }
        router.post("/reconciliations") {
            try await jobs.begin(
                .reconciliation,
                as: "reconcile",
                back: ReconciliationPage.back,
                $0,
                $1
            )
        }
    }
}
