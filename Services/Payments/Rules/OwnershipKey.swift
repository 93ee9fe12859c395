import EventTypes

/// What can be owned once: a non-consumable product, by an account, in an app.
struct OwnershipKey: Hashable, Sendable, Comparable {
    let accountID: AccountID
    let bundleID: BundleID
    let productID: ProductID

    /// The account whose it is.
    var accountKey: AccountKey { AccountKey(accountID: accountID, bundleID: bundleID) }

    static func < (left: Self, right: Self) -> Bool {
        (left.accountID, left.bundleID, left.productID)
            < (right.accountID, right.bundleID, right.productID)
    }
}
