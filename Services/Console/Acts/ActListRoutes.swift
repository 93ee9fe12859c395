import Hummingbird
import OperatorCore
import ServiceKit

/// The list of acts.
struct ActListRoutes: Sendable {
    let door: ConsoleDoor
    let desk: StoreDesk
    /// The jobs; `nil` if the console has no folder to keep them in.
    let board: JobBoard?

    func add(to router: Router<StoreRequestContext>) {
        router.get("/acts") { request, _ in
            let visitor = try door.visitor(of: request, seeing: .purchases)
            let fields = FormFields(request.uri.query ?? "")
            let query = ActQuery(
                kind: fields?["kind"].flatMap { ActKind(rawValue: $0) } ?? .buyers,
                administrator: fields?["by"] ?? "",
                key: fields?["key"] ?? "",
                before: fields?["before"]
            )
            let found = try await page(query, for: visitor)
            return pageResponse(ActListPage(found: found, query: query, visitor: visitor).html)
        }
    }

    private func page(_ query: ActQuery, for visitor: Visitor) async throws -> ActPage {
        guard query.kind == .jobs else {
            return try await ActReader(databases: desk.databases).page(query)
        }
        if !visitor.maySeeAnyJobs { try door.visits.require(.jobs, for: visitor) }
        let records = await board?.allJobs ?? []
        return JobActs.page(query, of: records.filter { visitor.maySeeJobs(of: $0.kind) })
    }
}
