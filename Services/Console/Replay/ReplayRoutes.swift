import EventTypes
import Hummingbird
import OperatorCore
import ServiceKit
import StoreAPI

/// Replays: their list, the plan of one, and what operators decide about it.
struct ReplayRoutes: Sendable {
    let jobs: JobRequests
    let desk: StoreDesk

    func add(to router: Router<StoreRequestContext>) {
        jobs.addRoutes(of: .replay, at: "/replays", to: router) { records, unreadable, visitor in
            let page = ReplayListPage(
                records: records,
                visitor: visitor,
                canReplay: jobs.canDo(.replay),
                unreadableCount: unreadable
            )
            return pageResponse(page.html)
        } page: { record, fields, visitor in
            let page = ReplayPage(
                record: record,
                fields: fields,
                visitor: visitor,
                canReplay: jobs.canDo(.replay)
            )
            return pageResponse(page.html)
        }
        router.post("/replays", use: plan)
        router.post("/replays/:id/run") { try await send($0, $1, isBegun: false) }
        router.post("/replays/:id/resume") { try await send($0, $1, isBegun: true) }
    }

    private func plan(_ request: Request, _ context: StoreRequestContext) async throws -> Response {
        let (visitor, form) = try await jobs.acts.asked(request, context, as: .operator)
        let board = try jobs.requireBoard(for: .replay)
        let order = try ReplayForm.order(in: form, at: try await desk.storeTime())
        let record = try await board.begin(
            JobRecord(
                .replay,
                id: jobs.newID(),
                by: jobs.decision("planned it", by: visitor, nil),
                order: order
            )
        )
        return JobRequests.go(to: JobPage.path(of: record))
    }

    private func send(
        _ request: Request,
        _ context: StoreRequestContext,
        isBegun: Bool
    ) async throws -> Response {
        let (visitor, form) = try await jobs.acts.asked(request, context, as: .operator)
        let board = try jobs.requireBoard(for: .replay)
        let (_, record) = try await jobs.job(.replay, of: context)
        let back = jobs.back(to: record)
        let reason = try ActFormRules.reason(in: form, back: back)
        if !isBegun {
            try ActFormRules.requireTyped("\(record.plan?.total ?? 0)", in: form, back: back)
        }
        let step: ReplayStep =
            isBegun ? .goOn : .begin(skippingUnreadable: form["skip"] == "true")
        let decision = jobs.decision(step.words, by: visitor, reason)
        try await jobs.acts.run("replay", on: "\(record.id)", by: visitor, back: back) {
            try await board.send(record.id, step, by: decision)
        }
        return JobRequests.go(to: JobPage.path(of: record))
    }
}
