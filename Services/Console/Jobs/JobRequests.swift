import ClockAndIDs
import EventTypes
import Hummingbird
import OperatorCore
import ServiceKit
import StoreAPI

/// Answers what the routes of all jobs ask: which job, who decides, and whether there can be one.
struct JobRequests: Sendable {
    let acts: ActRunner
    /// The jobs; `nil` if the console has no folder to keep them in.
    let board: JobBoard?

    private var door: ConsoleDoor { acts.door }

    /// Whether a kind of job can be begun here.
    func canDo(_ kind: JobRecord.Kind) -> Bool { board?.tools.canDo(kind) ?? false }

    /// The job that a path names.
    func job(
        _ kind: JobRecord.Kind,
        of context: StoreRequestContext
    ) async throws -> (board: JobBoard, record: JobRecord) {
        guard let board, let id = context.parameters.get("id").flatMap({ EventID($0) }),
            let record = await board.job(id, of: kind)
        else { throw ConsoleProblem.notFound }
        return (board, record)
    }

    /// The board, if a kind of job can be begun here.
    func requireBoard(for kind: JobRecord.Kind) throws(ConsoleProblem) -> JobBoard {
        guard let board, canDo(kind) else {
            throw ConsoleProblem(
                409,
                "This console cannot do this",
                "A \(kind.rawValue) needs settings that are missing. Its page names them. Nothing was done."
            )
        }
        return board
    }

    /// Adds the routes that jobs of operators have in common: their list, the page of one with its news, and
    /// its end.
    ///
    /// - Parameters:
    ///   - kind: The kind of job.
    ///   - path: The path of the list.
    ///   - router: The router.
    ///   - list: Shows jobs, and how many more cannot be read.
    ///   - page: Shows a job, with the fields of its progress.
    func addRoutes(
        of kind: JobRecord.Kind,
        at path: String,
        to router: Router<StoreRequestContext>,
        list: @escaping @Sendable ([JobRecord], Int, Visitor) -> Response,
        page: @escaping @Sendable (JobRecord, [String: NowField], Visitor) -> Response
    ) {
        router.get(RouterPath(path)) { request, _ in
            let visitor = try door.visitor(of: request, seeing: .jobs)
            let records = await board?.jobs(of: kind) ?? []
            return list(records, board?.unreadableCount ?? 0, visitor)
        }
        router.get(RouterPath("\(path)/:id")) { request, context in
            let visitor = try door.visitor(of: request, seeing: .jobs)
            let (board, record) = try await job(kind, of: context)
            return page(record, await board.progress(of: record), visitor)
        }
        router.get(RouterPath("\(path)/:id/live")) { try await live(kind, $0, $1) }
        router.post(RouterPath("\(path)/:id/stop")) { try await stop(kind, $0, $1) }
    }

    /// The news of a job, for its page.
    func live(
        _ kind: JobRecord.Kind,
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        _ = try door.visitor(of: request, seeing: .jobs, isUse: false)
        let (board, record) = try await job(kind, of: context)
        return try LiveAnswer(
            stamp: JobPage.stamp(of: record),
            fields: await board.progress(of: record)
        ).response()
    }

    /// Begins a job that needs nothing but a reason.
    func begin(
        _ kind: JobRecord.Kind,
        as act: String,
        back: ConsoleProblem.Back,
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let (visitor, form) = try await acts.asked(request, context, as: .operator)
        let board = try requireBoard(for: kind)
        let reason = try ActFormRules.reason(in: form, back: back)
        let id = newID()
        let decision = decision("began it", by: visitor, reason)
        let record = try await acts.run(act, on: "\(id)", by: visitor, back: back) {
            try await board.begin(JobRecord(kind, id: id, by: decision))
        }
        return Self.go(to: JobPage.path(of: record))
    }

    /// Stops a job.
    func stop(
        _ kind: JobRecord.Kind,
        _ request: Request,
        _ context: StoreRequestContext,
        as scope: AdministratorScope = .operator
    ) async throws -> Response {
        let (visitor, form) = try await acts.asked(request, context, as: scope)
        let (board, record) = try await job(kind, of: context)
        let back = back(to: record)
        let reason = try ActFormRules.reason(in: form, back: back)
        let decision = decision("stopped it", by: visitor, reason)
        try await acts.run("stop", on: "\(record.id)", by: visitor, back: back) {
            try await board.stop(record.id, of: kind, by: decision)
        }
        return Self.go(to: JobPage.path(of: record))
    }

    /// A decision of a visitor at this moment.
    func decision(_ words: String, by visitor: Visitor, _ reason: ActReason?) -> JobRecord.Decision
    {
        JobRecord.Decision(
            words: words,
            act: Act(decidedBy: visitor.name, reason: reason),
            at: door.now().millisecondsSinceEpoch
        )
    }

    /// A new id, which begins with the machine's time.
    func newID() -> EventID {
        EventID(time: StoreTime(millisecondsSinceEpoch: door.now().millisecondsSinceEpoch))
    }

    /// The page of a job as a place to go on from.
    func back(to record: JobRecord) -> ConsoleProblem.Back {
        ConsoleProblem.Back(
            path: JobPage.path(of: record),
            words: "Back to the \(record.kind.rawValue)"
        )
    }

    /// An answer that leads to a page.
    static func go(to path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path])
    }
}
