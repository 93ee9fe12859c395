import Hummingbird
import OperatorCore
import ServiceKit
import StoreAPI

/// The list of the purchases that wait for an approval.
struct ApprovalRoutes: Sendable {
    let door: ConsoleDoor
    let desk: StoreDesk

    func add(to router: Router<StoreRequestContext>) {
        router.get("/approvals") { request, _ in
            let visitor = try door.visitor(of: request, seeing: .purchases)
            let after = FormFields(request.uri.query ?? "")?["after"]
            let found = try await desk.deferred(after: after, token: visitor.session.token)
            return pageResponse(ApprovalListPage(found: found, visitor: visitor).html)
        }
    }
}
