public import Foundation
public import ReceiptValidation

/// A product that an account owns according to its app receipt.
public struct OwnedProduct: Hashable, Sendable, Identifiable {
    /// The product's identifier.
    public var id: String { productID }
    /// The product's identifier.
    public let productID: String
    /// The type of the product.
    ///
    /// It is never a consumable.
    public let productType: Product.ProductType
    /// The identifier of the transaction.
    public let transactionID: String
    /// The identifier of the first transaction of the same purchase.
    public let originalTransactionID: String
    /// The date of the first purchase.
    public let originalPurchaseDate: Date
    /// The end of a subscription's period; `nil` for all other types.
    public let expirationDate: Date?
}

extension SKPaymentQueue {
    /// Returns the products that the account owns according to the stored app receipt.
    ///
    /// It needs neither the network nor the store.
    ///
    /// The receipt at ``StoreConfiguration/receiptURL`` is verified with
    /// ``StoreConfiguration/receiptTrust``, and for ``StoreConfiguration/deviceID`` if that is set.
    /// The receipt shows the state of its last refresh (``refreshReceipt(properties:)``), so later
    /// refunds are missing. Consumables and refunded products are not owned. The receipt belongs to
    /// the account that last requested it. An app with several accounts needs one file for each
    /// account.
    ///
    /// - Parameter date: The date to check. Subscriptions whose period is over at this date are
    ///   left out.
    /// - Returns: The products ordered by identifier, each of them once; `nil` if there is no
    ///   receipt, no `receiptTrust`, or the receipt has expired. In these cases request a new
    ///   receipt.
    /// - Throws: `ReceiptRefusal` if the receipt is not valid.
    public func ownedProducts(at date: Date = .now) throws(ReceiptRefusal) -> [OwnedProduct]? {
        guard let receipt = try appReceipt(), !receipt.isExpired(at: date) else { return nil }
        return OwnedProduct.owned(by: receipt, at: date)
    }
}

extension OwnedProduct {
    /// Returns the products that a receipt lists as owned at a date, ordered by identifier.
    static func owned(by receipt: AppReceipt, at date: Date) -> [OwnedProduct] {
        var owned: [String: OwnedProduct] = [:]
        for purchase in receipt.purchases where purchase.isOwned(at: date) {
            // Purchases are ordered from oldest to newest, so the newest one replaces the others.
            owned[purchase.productID] = OwnedProduct(purchase)
        }
        return owned.values.sorted { $0.productID < $1.productID }
    }

    private init(_ purchase: AppReceipt.Purchase) {
        productID = purchase.productID
        productType = Product.ProductType(purchase.productType)
        transactionID = purchase.transactionID
        originalTransactionID = purchase.originalTransactionID
        originalPurchaseDate = purchase.originalPurchasedAt
        expirationDate = purchase.expiresAt
    }
}

extension AppReceipt.Purchase {
    fileprivate func isOwned(at date: Date) -> Bool {
        guard cancelledAt == nil else { return false }
        switch productType {
        case .nonConsumable, .nonRenewingSubscription: return true
        case .autoRenewableSubscription: return expiresAt.map { $0 > date } ?? false
        // A product of an unknown or missing type may be a consumable.
        case .consumable, .unknown: return false
        }
    }
}

extension Product.ProductType {
    fileprivate init(_ type: AppReceipt.ProductType) {
        switch type {
        case .consumable: self = .consumable
        case .nonConsumable: self = .nonConsumable
        case .nonRenewingSubscription: self = .nonRenewable
        case .autoRenewableSubscription: self = .autoRenewable
        case .unknown(let number): self.init(rawValue: number.map { "\($0)" } ?? "")
        }
    }
}
