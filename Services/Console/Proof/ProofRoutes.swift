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
        router.get("/proofs") { request, _ in
            let visitor = try door.visitor(of: request, seeing: .jobs)
            let page = ProofListPage(
                records: await jobs.board?.jobs(of: .proof) ?? [],
                visitor: visitor,
                canProve: jobs.canDo(.proof),
                unreadableCount: jobs.board?.unreadableCount ?? 0
            )
            return pageResponse(page.html)
        }
        router.get("/proofs/:id") { request, context in
            let visitor = try door.visitor(of: request, seeing: .jobs)
            let (board, record) = try await jobs.job(.proof, of: context)
            let page = ProofPage(
                record: record,
                fields: await board.progress(of: record),
                visitor: visitor
            )
            return pageResponse(page.html)
        }
        router.get("/proofs/:id/live") { try await jobs.live(.proof, $0, $1) }
        router.get("/seals") { request, _ in
            let visitor = try door.visitor(of: request, seeing: .jobs)
            let page = SealListPage(heads: try await desk.sealHeads(), visitor: visitor)
            return pageResponse(page.html)
        }
        router.post("/proofs") {
            try await jobs.begin(.proof, as: "prove", back: ProofPage.back, $0, $1)
        }
        router.post("/proofs/:id/stop") { try await jobs.stop(.proof, $0, $1) }
    }
}
