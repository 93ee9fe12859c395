import Hummingbird
import OperatorCore
import ServiceKit

/// The list of acts.
struct ActListRoutes: Sendable {
    let door: ConsoleDoor
    let desk: StoreDesk

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
            let found = try await ActReader(databases: desk.databases).page(query)
            return pageResponse(ActListPage(found: found, query: query, visitor: visitor).html)
        }
    }
}
