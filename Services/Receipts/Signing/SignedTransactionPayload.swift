import EventTypes
import Foundation

/// What a receipt says: the fields of Apple's `JWSTransactionDecodedPayload` that a one-time
/// purchase has (spec section 2.3), made from a transaction and a moment, and nothing else.
///
/// - `price` is the total of the purchase in thousandths of the currency unit: the unit price times
///   the quantity, zero where nothing was charged. A whole number, because Apple's verifier reads
///   9.9 as 9. (Trap 32: a receipt of quantity 3 at 0.99 USD says 2970, which is what was charged.)
/// - `signedDate` is never before a date that the same payload names (trap 39), whatever the clock
///   of this machine says.
/// - `appAccountToken` is what the merchant's server has set; else the application user name if that
///   is a UUID, in lower case; and is left out otherwise (spec rule 30).
struct SignedTransactionPayload: Codable, Hashable, Sendable {
    var transactionId: TransactionID
    var originalTransactionId: TransactionID
    var bundleId: BundleID
    var productId: ProductID
    var purchaseDate: Timestamp
    var originalPurchaseDate: Timestamp
    var quantity: Int
    var type: String
    var appAccountToken: String?
    var appTransactionId: String?
    var inAppOwnershipType: String
    var signedDate: Timestamp
    var revocationReason: Int?
    var revocationDate: Timestamp?
    var revocationType: String?
    var environment: StoreEnvironment
    var storefront: Storefront
    var storefrontId: String
    var transactionReason: String
    var currency: Currency
    var price: Int64

    /// Says of a paid transaction what its receipt has to say.
    ///
    /// - Throws: ``ReceiptsError`` if it is not paid, or holds what a receipt cannot express.
    init(
        _ transaction: Transaction,
        _ context: SigningContext = SigningContext(),
        environment: StoreEnvironment,
        signedAt now: Timestamp
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
        purchaseDate = purchasedAt
        originalPurchaseDate = transaction.originalPurchasedAt ?? purchasedAt
        quantity = transaction.quantity
        type = try Self.type(of: transaction)
        appAccountToken =
            context.appAccountToken ?? Self.appAccountToken(transaction.applicationUsername)
        appTransactionId = context.appTransactionID.map { String($0) }
        inAppOwnershipType = "PURCHASED"
        if let revokedAt = transaction.revokedAt {
            revocationDate = revokedAt
            // 0 is Apple's "for another reason"; 1 would blame the app.
            revocationReason = 0
            revocationType = "REFUND_FULL"
        }
        signedDate = now
        self.environment = environment
        storefront = transaction.storefront
        storefrontId = transaction.storefront.number
        transactionReason = "PURCHASE"
        currency = transaction.price.currency
        price = try Self.milliunits(of: transaction)
        date(now)
    }

    /// Says again what was signed before, at another time.
    ///
    /// - Parameters:
    ///   - payload: What was signed.
    ///   - token: The account token it has to say; `nil` for the one it says already.
    ///   - now: The time.
    /// - Throws: ``ReceiptsError`` for bytes that are no payload.
    init(
        again payload: [UInt8],
        appAccountToken token: String?,
        at now: Timestamp
    ) throws(ReceiptsError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(payload))
        } catch {
            throw ReceiptsError(
                code: .storedReceiptMalformed,
                detail: "A stored payload is not what was signed: \(Swift.type(of: error))"
            )
        }
        if let token { appAccountToken = token }
        date(now)
    }

    /// Dates the signature.
    mutating func date(_ now: Timestamp) {
        signedDate = max(now, purchaseDate, originalPurchaseDate, revocationDate ?? now)
    }

    /// The bytes that are signed: JSON with sorted keys.
    func encoded() -> [UInt8] {
        var text = PlainJSONText(capacity: 768)
        text.object { text in
            text.member("appAccountToken", appAccountToken)
            text.member("appTransactionId", appTransactionId)
            text.member("bundleId", bundleId.rawValue)
            text.member("currency", currency.rawValue)
            text.member("environment", environment.rawValue)
            text.member("inAppOwnershipType", inAppOwnershipType)
            text.member("originalPurchaseDate", originalPurchaseDate)
            text.member("originalTransactionId", originalTransactionId.rawValue)
            text.member("price", price)
            text.member("productId", productId.rawValue)
            text.member("purchaseDate", purchaseDate)
            text.member("quantity", Int64(quantity))
            text.member("revocationDate", revocationDate)
            text.member("revocationReason", revocationReason.map(Int64.init))
            text.member("revocationType", revocationType)
            text.member("signedDate", signedDate)
            text.member("storefront", storefront.rawValue)
            text.member("storefrontId", storefrontId)
            text.member("transactionId", transactionId.rawValue)
            text.member("transactionReason", transactionReason)
            text.member("type", type)
        }
        return text.bytes
    }

    private static func isPaid(_ state: TransactionState) -> Bool {
        state == .purchased || state == .restored
    }

    /// The product type in Apple's words.
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
        // `Money.milliunits` multiplies by at most 1000; an event is input, so it is checked here.
        guard transaction.price.minorUnits.magnitude <= UInt64(Int64.max / 1000) else {
            throw ReceiptsError(
                code: .priceOutOfRange,
                detail: "The price of transaction \(transaction.id) is too large for milliunits."
            )
        }
        return transaction.price.milliunits
    }
}
