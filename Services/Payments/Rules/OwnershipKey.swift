import EventTypes

/// The key of an ownership: a non-consumable product, for one account in one app.
struct OwnershipKey: Hashable, Sendable, Comparable {
    let accountID: AccountID
    let bundleID: BundleID
    let productID: ProductID

    /// The account that owns or buys the product.
    var accountKey: AccountKey { AccountKey(accountID: accountID, bundleID: bundleID) }

    static func < (left: Self, right: Self) -> Bool {
        (left.accountID, left.bundleID, left.productID)
            < (right.accountID, right.bundleID, right.productID)
    }
}
