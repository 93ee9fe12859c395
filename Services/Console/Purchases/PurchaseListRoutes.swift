import EventTypes
import Hummingbird
import ServiceKit

/// The list of all purchases.
struct PurchaseListRoutes: Sendable {
    let door: ConsoleDoor
    let desk: StoreDesk

    func add(to router: Router<StoreRequestContext>) {
        router.get("/purchases") { request, _ in
            let visitor = try door.visitor(of: request, seeing: .purchases)
            let before = request.uri.queryParameters.get("before").flatMap {
                TransactionID(rawValue: String($0))
            }
            let found = try await desk.purchases(before: before)
            let page = PurchaseListPage(
                purchases: found.purchases,
                isCut: found.isCut,
                visitor: visitor,
                now: found.now
            )
            return pageResponse(page.html)
        }
    }
}
