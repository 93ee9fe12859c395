import EventTypes
import Foundation

/// One purchase in an app receipt, read from the payload of its signed transaction.
///
/// The signed payload is the only record of a purchase here, so receipt, JWS and `verifyReceipt`
/// always agree.
struct AppReceiptEntry: Decodable, Hashable, Sendable {
    var transactionId: TransactionID
    var originalTransactionId: TransactionID
    var productId: ProductID
    var quantity: Int
    var type: String
    var purchaseDate: StoreTime
    var originalPurchaseDate: StoreTime
    var revocationDate: StoreTime?
    var revocationReason: Int?
    var inAppOwnershipType: String?
    var appAccountToken: String?
    var expiresDate: StoreTime?
    var isUpgraded: Bool?
    var subscriptionGroupIdentifier: String?
    var webOrderLineItemId: String?
    var offerType: Int?
    var offerIdentifier: String?
    var offerDiscountType: String?

    /// Reads the payload of a signed transaction.
    ///
    /// - Throws: ``ReceiptsError`` if it is not a payload that `receipts` signs.
    init(payload: [UInt8]) throws(ReceiptsError) {
        // A receipt may hold thousands of entries, and Foundation takes ten times as long for each.
        if let plain = Self(plain: payload) {
            self = plain
            return
        }
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(payload))
        } catch {
            throw ReceiptsError(
                code: .storedReceiptMalformed,
                detail: "A stored payload is not that of a signed transaction."
            )
        }
    }

    /// Reads the payload of a one-time purchase.
    ///
    /// Returns `nil` for any other payload.
    private init?(plain payload: [UInt8]) {
        var id: TransactionID?
        var originalID: TransactionID?
        var productID: ProductID?
        var type: String?
        var quantity: Int64?
        var purchasedAt: Int64?
        var originalPurchasedAt: Int64?
        var revokedAt: Int64?
        var revocationReason: Int64?
        var ownership: String?
        var token: String?
        let isRead = PlainJSON.read(payload) { json in
            json.object { json, name in
                switch name {
                case "transactionId": PlainJSON.keep(json.identifier(), in: &id)
                case "originalTransactionId": PlainJSON.keep(json.identifier(), in: &originalID)
                case "productId": PlainJSON.keep(json.identifier(), in: &productID)
                case "type": PlainJSON.keep(json.string(), in: &type)
                case "quantity": PlainJSON.keep(json.integer(), in: &quantity)
                case "purchaseDate": PlainJSON.keep(json.integer(), in: &purchasedAt)
                case "originalPurchaseDate":
                    PlainJSON.keep(json.integer(), in: &originalPurchasedAt)
                case "revocationDate": PlainJSON.keep(json.integer(), in: &revokedAt)
                case "revocationReason": PlainJSON.keep(json.integer(), in: &revocationReason)
                case "inAppOwnershipType": PlainJSON.keep(json.string(), in: &ownership)
                case "appAccountToken": PlainJSON.keep(json.string(), in: &token)
                // A subscription has more fields, which are read below.
                case "expiresDate", "isUpgraded", "subscriptionGroupIdentifier", "offerType",
                    "webOrderLineItemId", "offerIdentifier", "offerDiscountType":
                    false
                default: json.skip()
                }
            }
        }
        guard isRead == true, let id, let originalID, let productID, let type, let quantity,
            let purchasedAt, let originalPurchasedAt
        else { return nil }
        transactionId = id
        originalTransactionId = originalID
        productId = productID
        self.type = type
        self.quantity = Int(quantity)
        purchaseDate = StoreTime(millisecondsSinceEpoch: purchasedAt)
        originalPurchaseDate = StoreTime(millisecondsSinceEpoch: originalPurchasedAt)
        revocationDate = revokedAt.map(StoreTime.init(millisecondsSinceEpoch:))
        self.revocationReason = revocationReason.map(Int.init)
        inAppOwnershipType = ownership
        appAccountToken = token
    }

    /// Whether the entry is one period of an auto-renewable subscription.
    var isAutoRenewable: Bool { type == "Auto-Renewable Subscription" }

    /// Whether the period has an introductory price, reduced but not free.
    var isInIntroOfferPeriod: Bool { offerType == 1 && offerDiscountType != "FREE_TRIAL" }

    /// Whether the period is free, whatever the kind of the offer (rule S242).
    var isTrialPeriod: Bool { offerType != nil && offerDiscountType == "FREE_TRIAL" }
}
