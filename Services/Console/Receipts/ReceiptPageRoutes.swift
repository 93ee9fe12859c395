import Hummingbird
import ServiceKit

/// The page of a purchase's receipt, for people who answer buyers.
struct ReceiptPageRoutes: Sendable {
    let door: ConsoleDoor
    let desk: StoreDesk

    func add(to router: Router<StoreRequestContext>) {
        router.get("/purchases/:id/receipt") { request, context in
            let visitor = try door.visitor(of: request, seeing: .receipts)
            let id = try LookingRoutes.transaction(of: context)
            let receipt = try await desk.receipt(of: id, token: visitor.session.token)
            return pageResponse(ReceiptPage(id: id, receipt: receipt, visitor: visitor).html)
        }
    }
}
