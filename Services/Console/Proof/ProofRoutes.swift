import EventTypes
import Hummingbird
import OperatorCore
import ServiceKit
import StoreAPI

/// Proofs and seals: the list of proofs, the findings of one, what operators decide about it, and the
/// newest seals of the logs.
struct ProofRoutes: Sendable {
    let jobs: JobRequests
    let desk: StoreDesk

    private var door: ConsoleDoor { jobs.acts.door }

    func add(to router: Router<StoreRequestContext>) {
        jobs.addRoutes(of: .proof, at: "/proofs", to: router) { records, unreadable, visitor in
            let page = ProofListPage(
                records: records,
                visitor: visitor,
                canProve: jobs.canDo(.proof),
                unreadableCount: unreadable
            )
            return pageResponse(page.html)
        } page: { record, fields, visitor in
            pageResponse(ProofPage(record: record, fields: fields, visitor: visitor).html)
        }
        router.get("/seals") { request, _ in
            let visitor = try door.visitor(of: request, seeing: .jobs)
            let page = SealListPage(heads: try await desk.sealHeads(), visitor: visitor)
            return pageResponse(page.html)
        }
        router.post("/proofs") {
            try await jobs.begin(.proof, as: "prove", back: ProofPage.back, $0, $1)
        }
    }
}
