import EventTypes
import HTTPTypes
import Hummingbird
import ServiceKit
import StoreAPI

/// The pages of the sandbox's processor, on which buyers act as with 3-D Secure.
///
/// As on the page of a bank, whoever knows the address decides; nobody but the buyer is told it.
struct SandboxRoutes: Sendable {
    let store: SandboxStore

    func add(to router: StoreRouter) {
        router.open.post("\(Routes.sandboxActions)/:id", use: act)
    }

    /// Charges or refuses; the first decision counts.
    @Sendable
    private func act(_ request: Request, _ context: StoreRequestContext) async throws -> Response {
        guard let id = context.parameters.get("id").flatMap({ EventID($0) }) else {
            throw HTTPProblem.noActionNeeded
        }
        let body = try await decodeBody(SandboxActionRequest.self, from: request)
        let decision: OpenCallStore.BuyerDecision =
            switch body.decision {
            case .complete: .completed
            case .refuse: .refused
            }
        guard let counts = try await store.openCalls.act(AttemptID(bytes: id.bytes), decision)
        else {
            throw HTTPProblem.noActionNeeded
        }
        guard counts == decision else {
            throw HTTPProblem(
                .conflict,
                code: "action_decided_otherwise",
                title: "The action was decided otherwise",
                detail: "Somebody has decided before, or the time to act is over. That is final."
            )
        }
        return Response(status: .noContent)
    }
}
