import ServiceFoundation
import ServiceKit

/// The parts of `payments` that keep accounts and families, and give families what they share.
struct AccountParts {
    /// Gives families what they share.
    let runner: FamilyShareRunner
    private let accounts: AccountRoutes
    private let families: FamilyRoutes

    init(_ charging: ChargingParts, products: ProductStore, on frame: ServiceFrame) {
        runner = FamilyShareRunner(
            handler: FamilyShareHandler(context: charging.context, didCommit: frame.wakeRelay),
            logger: frame.logger
        )
        accounts = AccountRoutes(
            accounts: AccountHandler(
                client: frame.client,
                products: products,
                now: frame.storeNow,
                didCommit: frame.wakeRelay
            )
        )
        families = FamilyRoutes(
            families: FamilyHandler(
                client: frame.client,
                now: frame.storeNow,
                didCommit: frame.wakeRelay
            )
        )
    }

    /// Adds the routes.
    func addRoutes(to router: StoreRouter) {
        accounts.add(to: router)
        families.add(to: router)
    }
}
