import Crypto
import EventTypes
import ReceiptValidation

/// The content of an app receipt, made from the purchases and the request only (spec section 2.5).
///
/// Pure: apart from the date of issue, the same purchases and the same request give the same bytes.
struct AppReceiptContent: Sendable {
    private typealias Attribute = AppReceiptAttribute

    /// The account that the receipt belongs to.
    let account: AccountID
    /// The app.
    let bundleID: BundleID
    /// The environment of the store.
    let environment: StoreEnvironment
    /// The app's request.
    let question: AppReceiptQuestion
    /// The purchases.
    let entries: [AppReceiptEntry]

    /// Returns the bytes to sign.
    func encoded(at createdAt: StoreTime) -> [UInt8] {
        let bundle = AttributeSet.text(bundleID.rawValue)
        let opaque = opaqueValue()
        let type = AppReceiptType(
            environment.ofReceipts,
            isVolumePurchase: question.isVolumePurchase
        )
        var set = AttributeSet(capacity: entries.count + 9)
        set.add(Attribute.receiptType, text: type.rawValue)
        set.add(Attribute.bundleID, bytes: bundle)
        set.add(Attribute.applicationVersion, text: question.applicationVersion)
        set.add(Attribute.opaqueValue, bytes: opaque)
        set.add(
            Attribute.deviceHash,
            bytes: AppReceipt.deviceHash(
                deviceID: question.deviceID,
                opaque: opaque,
                bundleID: bundle
            )
        )
        set.add(Attribute.createdAt, date: createdAt)
        set.add(Attribute.originalApplicationVersion, text: Self.originalApplicationVersion)
        if question.isExpired {
            set.add(Attribute.expiresAt, date: createdAt)
        }
        for entry in entries {
            set.add(Attribute.purchase, bytes: encoded(entry))
        }
        return set.encoded()
    }

    /// The original version of the app in every receipt.
    ///
    /// The store does not sell apps, and Apple's sandbox writes the same.
    static let originalApplicationVersion = "1.0"

    private func encoded(_ entry: AppReceiptEntry) -> [UInt8] {
        var set = AttributeSet(capacity: 12)
        set.add(Attribute.quantity, integer: Int64(entry.quantity))
        set.add(Attribute.productID, text: entry.productId.rawValue)
        set.add(Attribute.transactionID, text: entry.transactionId.rawValue)
        set.add(Attribute.purchasedAt, date: entry.purchaseDate)
        set.add(Attribute.originalTransactionID, text: entry.originalTransactionId.rawValue)
        set.add(Attribute.originalPurchasedAt, date: entry.originalPurchaseDate)
        // Without network, consumables and owned products could not be distinguished otherwise.
        if let type = AppReceipt.ProductType.number(ofSigned: entry.type) {
            set.add(Attribute.productType, integer: type)
        }
        if let expiresAt = entry.expiresDate {
            set.add(Attribute.subscriptionExpiresAt, date: expiresAt)
        }
        if let period = entry.webOrderLineItemId.flatMap(Int64.init), period >= 0 {
            set.add(Attribute.webOrderLineItemID, integer: period)
        }
        if entry.isTrialPeriod { set.add(Attribute.isTrialPeriod, integer: 1) }
        if entry.isAutoRenewable {
            set.add(Attribute.isInIntroOfferPeriod, integer: entry.isInIntroOfferPeriod ? 1 : 0)
        }
        // In a receipt that is requested as revoked, every purchase is revoked.
        if let cancelledAt = entry.revocationDate ?? (question.isRevoked ? entry.purchaseDate : nil)
        {
            set.add(Attribute.cancelledAt, date: cancelledAt)
        }
        return set.encoded()
    }

    /// Attribute 4: makes the hash of one device differ between apps and between accounts.
    ///
    /// The value is derived, not random, so that the same request gets the same answer.
    private func opaqueValue() -> [UInt8] {
        var hash = SHA256()
        for part in [Array(bundleID.rawValue.utf8), Array(account.rawValue.utf8)] {
            hash.update(data: part)
            hash.update(data: [0])
        }
        hash.update(data: question.deviceID)
        return Array(hash.finalize().prefix(16))
    }
}

extension StoreEnvironment {
    /// The environment as the validator names it.
    var ofReceipts: ReceiptTrust.Environment {
        switch self {
        case .sandbox: .sandbox
        case .production: .production
        }
    }
}
