import Logging
import ServiceFoundation
import ServiceKit

/// The parts of `payments` that keep accounts and families, and give families what they share.
struct AccountParts {
    /// Gives families what they share.
    let runner: WorkRunner
    private let accounts: AccountRoutes
    private let families: FamilyRoutes

    init(_ charging: ChargingParts, products: ProductStore, on frame: ServiceFrame) {
        let shares = FamilyShareHandler(context: charging.context, didCommit: frame.wakeRelay)
        runner = WorkRunner(
            client: frame.client,
            rest: WorkLook.patience,
            complaint: "What families share could not be looked at; it is looked at again",
            logger: frame.logger
        ) {
            while try await shares.carryOutNext(), !Task.isCancelled {}
        }
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
