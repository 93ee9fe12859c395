public import Foundation
public import ReceiptValidation

/// A product that an account owns, as its app receipt says.
public struct OwnedProduct: Hashable, Sendable, Identifiable {
    /// The product's identifier.
    public var id: String { productID }
    /// The product's identifier.
    public let productID: String
    /// Which type the product is: every one but a consumable.
    public let productType: Product.ProductType
    /// The number of the transaction.
    public let transactionID: String
    /// The number of the first transaction of the same purchase.
    public let originalTransactionID: String
    /// When it was first bought.
    public let originalPurchaseDate: Date
    /// When a subscription's period ends; `nil` for everything else.
    public let expirationDate: Date?
}

extension SKPaymentQueue {
    /// The products that the account owns by the app receipt that is kept, without network and
    /// without the store.
    ///
    /// The receipt at ``StoreConfiguration/receiptURL`` is verified by
    /// ``StoreConfiguration/receiptTrust``, and for ``StoreConfiguration/deviceID`` if there is one.
    /// It says what was true when it was last refreshed (``refreshReceipt(properties:)``): a refund
    /// since then is not in it. Consumables are not owned, and what was refunded is not either.
    /// It is of the account that asked for it last: an app of several accounts keeps a file for each.
    ///
    /// - Parameter date: The moment in question: a subscription whose period is over is left out.
    /// - Returns: The products by identifier, each once; `nil` if there is no receipt, nobody to
    ///   believe, or the receipt has expired: ask for a new one.
    /// - Throws: `ReceiptRefusal` if the receipt is not believed.
    public func ownedProducts(at date: Date = .now) throws(ReceiptRefusal) -> [OwnedProduct]? {
        guard let receipt = try appReceipt(), !receipt.isExpired(at: date) else { return nil }
        return OwnedProduct.owned(by: receipt, at: date)
    }
}

extension OwnedProduct {
    /// The products that a receipt says are owned at a moment, by identifier.
    static func owned(by receipt: AppReceipt, at date: Date) -> [OwnedProduct] {
        var owned: [String: OwnedProduct] = [:]
        for purchase in receipt.purchases where purchase.isOwned(at: date) {
            // The purchases come with the oldest first: the newest speaks for the product.
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
        // A type that is not known, or not said, may be one that is used up.
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
