import EventTypes
import Foundation

/// The payload of a receipt: the fields of Apple's `JWSTransactionDecodedPayload` (spec section 2.3),
/// made only from a transaction, its context and a time.
///
/// - `price` is the total of the purchase in thousandths of the currency unit: the unit price times
///   the quantity, or zero if nothing was charged. It is an integer, because Apple's verifier reads
///   9.9 as 9. (Trap 32: the receipt of quantity 3 at 0.99 USD says 2970, which is the amount
///   charged.)
/// - `signedDate` is never before another date in the same payload (trap 39), whatever this
///   machine's clock says.
/// - `appAccountToken` is the token set by the merchant's server. Otherwise it is the application
///   user name in lower case, if that is a UUID. Otherwise it is omitted (spec rule 30).
/// - A period of a subscription has the dates of the period. One that was renewed early begins in the
///   future (rule S81 of docs/subscriptions.md), and then after `signedDate`.
/// - A period of an offer has the offer's price, and says which offer it is: an introductory one has no
///   identifier (rules S32, S42 and S43).
/// - A refund sets `revocationType` and `revocationPercentage`. `revocationDate` and
///   `revocationReason` are set only while the purchase is revoked, because apps take a product
///   away when they see the date (decision 33).
struct SignedTransactionPayload: Codable, Hashable, Sendable {
    var transactionId: TransactionID
    var originalTransactionId: TransactionID
    var bundleId: BundleID
    var productId: ProductID
    var purchaseDate: StoreTime
    var originalPurchaseDate: StoreTime
    var expiresDate: StoreTime?
    /// Only ever `true`.
    var isUpgraded: Bool?
    var subscriptionGroupIdentifier: String?
    var webOrderLineItemId: String?
    var quantity: Int
    var type: String
    var appAccountToken: String?
    var appTransactionId: String?
    var inAppOwnershipType: String
    var offerDiscountType: String?
    var offerIdentifier: String?
    var offerPeriod: String?
    var offerType: Int?
    var signedDate: StoreTime
    var revocationReason: Int?
    var revocationDate: StoreTime?
    var revocationPercentage: Int64?
    var revocationType: String?
    var environment: StoreEnvironment
    var storefront: Storefront
    var storefrontId: String
    var transactionReason: String
    var currency: Currency
    var price: Int64

    /// Creates the payload of a paid transaction.
    ///
    /// - Throws: ``ReceiptsError`` if it is not paid, or contains a value that a receipt cannot
    ///   express.
    init(
        _ transaction: Transaction,
        _ context: SigningContext = SigningContext(),
        environment: StoreEnvironment,
        signedAt now: StoreTime
    ) throws(ReceiptsError) {
        guard let purchasedAt = transaction.purchasedAt, Self.isPaid(transaction.state) else {
            throw ReceiptsError(
                code: .transactionNotPaid,
                detail: "Transaction \(transaction.id) is \(transaction.state) and has no receipt."
            )
        }
        transactionId = transaction.id
        originalTransactionId = transaction.originalID
        bundleId = transaction.bundleID
        productId = transaction.productID
        purchaseDate = transaction.subscription?.start ?? purchasedAt
        originalPurchaseDate = transaction.originalPurchasedAt ?? purchasedAt
        expiresDate = transaction.subscription?.end
        isUpgraded = context.isUpgraded ? true : nil
        subscriptionGroupIdentifier = transaction.subscription?.terms.groupID.rawValue
        webOrderLineItemId = transaction.subscription.map { period in
            (period.paidBy ?? transaction.id).webOrderLineItemID
        }
        quantity = transaction.quantity
        type = try Self.type(of: transaction)
        appAccountToken =
            context.appAccountToken ?? Self.appAccountToken(transaction.applicationUsername)
        appTransactionId = context.appTransactionID.map { String($0) }
        inAppOwnershipType = transaction.sharedFrom == nil ? "PURCHASED" : "FAMILY_SHARED"
        let offer = transaction.subscription?.offer
        offerDiscountType = offer?.mode.discountType
        offerIdentifier = offer?.id?.rawValue
        offerPeriod = offer?.period.description
        offerType = offer?.type.number
        if let revokedAt = transaction.revokedAt {
            revocationDate = revokedAt
            // 0 is Apple's "for another reason". 1 would blame the app.
            revocationReason = 0
        }
        // A free purchase, or one without a list of refunds, can only be revoked as a whole.
        revocationPercentage =
            transaction.refundedMilliPercent ?? transaction.revokedAt.map { _ in Self.whole }
        revocationType = revocationPercentage.map {
            $0 == Self.whole ? "REFUND_FULL" : "REFUND_PRORATED"
        }
        if transaction.sharedFrom != nil, transaction.revokedAt != nil {
            revocationType = "FAMILY_REVOKE"
        }
        signedDate = now
        self.environment = environment
        storefront = transaction.storefront
        storefrontId = transaction.storefront.number
        transactionReason = Self.isRenewal(transaction) ? "RENEWAL" : "PURCHASE"
        currency = transaction.price.currency
        price = try Self.milliunits(of: transaction)
        date(now)
    }

    /// Creates the payload for signing again, at another time.
    ///
    /// - Parameters:
    ///   - payload: The payload that was signed before.
    ///   - token: The new account token, or `nil` to keep the present one.
    ///   - isUpgraded: Whether an upgrade has ended the transaction's period since.
    ///   - now: The time.
    /// - Throws: ``ReceiptsError`` if the bytes are not a payload.
    init(
        again payload: [UInt8],
        appAccountToken token: String?,
        isUpgraded: Bool = false,
        at now: StoreTime
    ) throws(ReceiptsError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(payload))
        } catch {
            throw ReceiptsError(
                code: .storedReceiptMalformed,
                detail: "A stored payload cannot be read: \(Swift.type(of: error))"
            )
        }
        if let token { appAccountToken = token }
        if isUpgraded { self.isUpgraded = true }
        date(now)
    }

    /// Sets the time of the signature.
    mutating func date(_ now: StoreTime) {
        let purchasedAt = expiresDate == nil ? purchaseDate : now
        signedDate = max(now, purchasedAt, originalPurchaseDate, revocationDate ?? now)
    }

    /// Returns the bytes to sign: JSON with sorted keys.
    func encoded() -> [UInt8] {
        var text = PlainJSONText(capacity: 768)
        text.object { text in
            text.member("appAccountToken", appAccountToken)
            text.member("appTransactionId", appTransactionId)
            text.member("bundleId", bundleId.rawValue)
            text.member("currency", currency.rawValue)
            text.member("environment", environment.rawValue)
            text.member("expiresDate", expiresDate)
            text.member("inAppOwnershipType", inAppOwnershipType)
            if let isUpgraded { text.member("isUpgraded", isUpgraded) }
            text.member("offerDiscountType", offerDiscountType)
            text.member("offerIdentifier", offerIdentifier)
            text.member("offerPeriod", offerPeriod)
            text.member("offerType", offerType.map(Int64.init))
            text.member("originalPurchaseDate", originalPurchaseDate)
            text.member("originalTransactionId", originalTransactionId.rawValue)
            text.member("price", price)
            text.member("productId", productId.rawValue)
            text.member("purchaseDate", purchaseDate)
            text.member("quantity", Int64(quantity))
            text.member("revocationDate", revocationDate)
            text.member("revocationPercentage", revocationPercentage)
            text.member("revocationReason", revocationReason.map(Int64.init))
            text.member("revocationType", revocationType)
            text.member("signedDate", signedDate)
            text.member("storefront", storefront.rawValue)
            text.member("storefrontId", storefrontId)
            text.member("subscriptionGroupIdentifier", subscriptionGroupIdentifier)
            text.member("transactionId", transactionId.rawValue)
            text.member("transactionReason", transactionReason)
            text.member("type", type)
            text.member("webOrderLineItemId", webOrderLineItemId)
        }
        return text.bytes
    }

    /// All of a price, in thousandths of a percent.
    private static let whole: Int64 = 100_000

    private static func isPaid(_ state: TransactionState) -> Bool {
        state == .purchased || state == .restored
    }

    /// Whether the store itself made the transaction for a further period, or shares one that it made.
    private static func isRenewal(_ transaction: Transaction) -> Bool {
        let began = transaction.subscription?.shared?.began
        return transaction.reason == .renewal || began == .renewed || began == .recovered
    }

    /// Returns Apple's name of the product type.
    private static func type(of transaction: Transaction) throws(ReceiptsError) -> String {
        switch transaction.productType {
        case .consumable: "Consumable"
        case .nonConsumable: "Non-Consumable"
        case .autoRenewableSubscription: "Auto-Renewable Subscription"
        case .nonRenewingSubscription: "Non-Renewing Subscription"
        case .unknown:
            throw ReceiptsError(
                code: .productTypeUnknown,
                detail: "The product type of transaction \(transaction.id) is newer than this "
                    + "version of receipts; upgrade it and redrive the event."
            )
        }
    }

    private static func appAccountToken(_ applicationUsername: String?) -> String? {
        applicationUsername.flatMap { EventID($0)?.description }
    }

    private static func milliunits(of transaction: Transaction) throws(ReceiptsError) -> Int64 {
        // `Money.milliunits` multiplies by at most 1000. An event is input, so the range is checked
        // here.
        guard transaction.price.minorUnits.magnitude <= UInt64(Int64.max / 1000) else {
            throw ReceiptsError(
                code: .priceOutOfRange,
                detail: "The price of transaction \(transaction.id) is too large for milliunits."
            )
        }
        return transaction.price.milliunits
    }
}
