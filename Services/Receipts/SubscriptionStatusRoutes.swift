import EventTypes
import HTTPTypes
import Hummingbird
import ServiceFoundation
import ServiceKit
import StoreAPI

/// The route of the statuses of an account's subscriptions.
struct SubscriptionStatusRoutes: Sendable {
    private let reader: SubscriptionStatusReader

    init(signer: ReceiptSigner, on frame: ServiceFrame) {
        reader = SubscriptionStatusReader(
            store: ServerAPIStore(),
            client: frame.client,
            signer: signer,
            now: frame.storeNow
        )
    }

    /// Adds the route.
    func add(to router: StoreRouter) {
        router.account.get("\(Routes.subscriptionStatuses)") { _, context in
            try await statuses(context)
        }
    }

    private func statuses(_ context: StoreRequestContext) async throws -> Response {
        let account = try context.requireAccount()
        let owner = OwnerKey(account: account.accountID, bundle: account.bundleID)
        let statuses = try await reader.statuses(of: owner).map { signed in
            SubscriptionStatusesResponse.Status(
                groupID: signed.subscription.groupID,
                version: signed.subscription.version,
                status: signed.status,
                signedTransaction: signed.transaction,
                signedRenewalInfo: signed.renewalInfo
            )
        }
        return try jsonResponse(SubscriptionStatusesResponse(statuses: statuses))
    }
}
