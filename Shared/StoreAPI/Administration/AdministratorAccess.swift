/// The scopes that open the administrators' routes.
///
/// The services enforce this table. The OpenAPI documents show the same scopes, and tests compare
/// both with the routes of each service.
public enum AdministratorAccess {
    /// The scopes of each route, by its method and path; any one of them opens it.
    ///
    /// `HEAD` needs what `GET` needs.
    public static let scopes: [String: Set<AdministratorScope>] = {
        var scopes: [String: Set<AdministratorScope>] = [:]
        for (needed, routes) in routes {
            for route in routes { scopes[route] = needed }
        }
        return scopes
    }()

    private static let routes: [(Set<AdministratorScope>, [String])] = [
        // Products, and what belongs to them.
        (
            [.read, .merchandiser],
            [
                "GET \(Routes.adminProducts)/{id}",
                "GET \(Routes.adminCatalog)",
                "GET \(Routes.adminProducts)/{productID}/content",
                "GET \(Routes.adminCodeCampaigns)",
                "GET \(Routes.adminCodeCampaigns)/{id}",
            ]
        ),
        (
            [.merchandiser],
            [
                "PUT \(Routes.adminProducts)/{id}",
                "DELETE \(Routes.adminProducts)/{id}",
                "PUT \(Routes.adminCatalog)",
                "PUT \(Routes.adminProducts)/{productID}/content",
                "DELETE \(Routes.adminProducts)/{productID}/content/{version}",
                "POST \(Routes.adminCodeCampaigns)",
                "POST \(Routes.adminCodeCampaigns)/{id}/deactivation",
                "PUT \(Routes.adminSubscriptions)/{id}/price-increase",
                "DELETE \(Routes.adminSubscriptions)/{id}/price-increase",
            ]
        ),
        // Buyers: their accounts, purchases and subscriptions.
        (
            [.read, .support],
            [
                "GET \(Routes.adminTransactions)/{id}",
                "GET \(Routes.adminAccounts)/{account}",
                "GET \(Routes.adminSubscriptions)",
                "GET \(Routes.adminSubscriptions)/{id}",
                "GET \(Routes.adminRefundRequests)",
                "GET \(Routes.adminRefundRequests)/{id}/{number}",
                "GET \(Routes.adminUnfinished)",
                "GET \(Routes.adminDeferred)",
                "GET \(Routes.adminFamilies)",
                "GET \(Routes.adminFamilies)/{id}",
                "GET \(Routes.adminTest)/accounts/{account}",
            ]
        ),
        (
            [.support],
            [
                "POST \(Routes.adminTransactions)/{id}/approval",
                "POST \(Routes.adminTransactions)/{id}/refund",
                "POST \(Routes.adminTransactions)/{id}/refunds/{number}/reversal",
                "POST \(Routes.adminTransactions)/{id}/resumption",
                "POST \(Routes.adminTransactions)/{id}/webhooks",
                "GET \(Routes.adminTransactions)/{id}/receipt",
                "POST \(Routes.adminRefundRequests)/{id}/{number}/decision",
                "GET \(Routes.adminTransactions)/{id}/consumption",
                "GET \(Routes.adminTransactions)/{id}/consumption-report",
                "PUT \(Routes.adminAccounts)/{account}",
                "POST \(Routes.adminAccounts)/{account}/purchase-intents",
                "PUT \(Routes.adminSubscriptions)/{id}/auto-renew",
                "PUT \(Routes.adminSubscriptions)/{id}/product",
                "POST \(Routes.adminFamilies)",
                "POST \(Routes.adminFamilies)/{id}/end",
                "PUT \(Routes.adminFamilies)/{id}/members/{account}",
                "POST \(Routes.adminFamilies)/{id}/members/{account}/removal",
                "POST \(Routes.adminSubscriptions)/{id}/extensions",
                "POST \(Routes.adminMassExtensions)",
                "PUT \(Routes.adminTest)/accounts/{account}",
                "POST \(Routes.adminTest)/transactions/{id}/dispute",
                "DELETE \(Routes.adminTest)/accounts/{account}",
                "POST \(Routes.adminTest)/subscriptions/{id}/renewal",
                "POST \(Routes.adminTest)/subscriptions/{id}/expiry",
                "POST \(Routes.adminTest)/subscriptions/{id}/price-increase",
                "PUT \(Routes.adminTest)/subscriptions/{id}/price-increase",
                "POST \(Routes.adminTest)/subscriptions/{id}/resolution",
            ]
        ),
        // The store itself.
        (
            [.read, .operator],
            [
                "GET \(Routes.adminClock)",
                "GET \(Routes.adminApps)/{bundle}/notification-endpoint",
            ]
        ),
        (
            [.operator],
            [
                "POST \(Routes.adminClockAdvance)",
                "POST \(Routes.adminClockFreeze)",
                "POST \(Routes.adminClockRun)",
                "POST \(Routes.adminClockResume)",
                "PUT \(Routes.adminApps)/{bundle}/notification-endpoint",
                "DELETE \(Routes.adminApps)/{bundle}/notification-endpoint",
                "POST \(Routes.adminApps)/{bundle}/notifications",
            ]
        ),
    ]
}
