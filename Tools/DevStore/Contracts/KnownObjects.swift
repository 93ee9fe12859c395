import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import StoreHarness

/// The objects besides purchases that the contracts' calls name, so that they find them.
struct KnownObjects: Encodable {
    /// The campaigns of offer codes.
    var campaigns: [Int64]
    var families: [FamilyID]
    /// The identifiers under which a merchant's server extended all subscribers.
    var massExtensions: [String]
    /// The purchases for which a refund was requested; each has the request number 1.
    var refundRequests: [TransactionID]
    var subscriptions: [TransactionID]

    /// Makes one object of each kind.
    ///
    /// The family consists of accounts that the calls name. The calling account is not among them.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - client: The calling account.
    /// - Returns: The ids.
    /// - Throws: ``HarnessError`` if the store refuses one of them, or does not answer in time.
    static func make(in store: StoreHarness, by client: StoreClient) async throws -> KnownObjects {
        let club = try await purchase(SampleCatalog.club, by: client)
        let coins = try await purchase(SampleCatalog.coins, by: client)
        try await SampleCodes.make(in: store)
        let campaigns = try await store.administrator.raw(
            .GET,
            store.urls.payments + Routes.adminCodeCampaigns
        )
        let asked = try await client.raw(
            .POST,
            store.urls.payments + Routes.refundRequests(of: coins),
            body: Array(try JSONEncoder().encode(BuyerRefundRequest(reason: .other))),
            headers: [("content-type", "application/json"), ("idempotency-key", "known")]
        )
        guard asked.status < 300 else { throw HarnessError(asked.text) }
        return KnownObjects(
            campaigns: try campaigns.decode(CodeCampaignsResponse.self).campaigns.map(\.id),
            families: [try await family(in: store)],
            massExtensions: [try await massExtension(in: store)],
            refundRequests: [coins],
            subscriptions: [club]
        )
    }

    private static func purchase(
        _ product: ProductID,
        by client: StoreClient
    ) async throws -> TransactionID {
        let payment = try await client.addUntilAnswered(.sample(product)).value
        return try await client.wait(for: payment.transaction.id, toBe: .purchased).id
    }

    private static func family(in store: StoreHarness) async throws -> FamilyID {
        let request = FamilyRequest(
            bundleID: StoreKeys.bundleID,
            organizer: AccountID(unchecked: "grace"),
            members: [AccountID(unchecked: "linus")]
        )
        let made = try await store.administrator.raw(
            .POST,
            store.urls.payments + Routes.adminFamilies,
            body: Array(try JSONEncoder().encode(request))
        )
        guard let family = try made.decode(FamilyResponse.self).family else {
            throw HarnessError(made.text)
        }
        return family.id
    }

    private static func massExtension(in store: StoreHarness) async throws -> String {
        let request = """
            {"requestIdentifier": "known", "productId": "\(SampleCatalog.club)", \
            "extendByDays": 1, "extendReasonCode": 1, "storefrontCountryCodes": ["USA"]}
            """
        let answer = try await StoreHTTP.send(
            .POST,
            store.urls.receipts + "/inApps/v1/subscriptions/extend/mass",
            headers: [
                ("authorization", "Bearer \(try store.keys.serverToken())"),
                ("content-type", "application/json"),
            ],
            body: Array(request.utf8)
        )
        guard answer.status == 200 else { throw HarnessError(answer.text) }
        return "known"
    }
}
