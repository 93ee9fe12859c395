import ServiceFoundation
import ServiceKit

/// The parts of `payments` that make offer codes and redeem them.
struct CodeParts {
    private let campaigns: CampaignRoutes
    private let redemptions: RedemptionRoutes

    init(
        _ settings: PaymentsSettings,
        _ charging: ChargingParts,
        _ acceptance: AcceptanceParts,
        products: ProductStore,
        on frame: ServiceFrame
    ) {
        campaigns = CampaignRoutes(
            campaigns: CampaignHandler(
                client: frame.client,
                products: products,
                now: frame.storeNow
            )
        )
        redemptions = RedemptionRoutes(
            redemptions: RedemptionHandler(
                context: charging.context,
                products: products,
                methodRefusal: charging.processor.refusal(of:),
                pay: acceptance.pay
            ),
            refusesCardNumbers: charging.processor.hasSavedMethods,
            addressHeader: settings.clientAddressHeader
        )
    }

    /// Adds the routes.
    func addRoutes(to router: StoreRouter) {
        campaigns.add(to: router)
        redemptions.add(to: router)
    }
}
