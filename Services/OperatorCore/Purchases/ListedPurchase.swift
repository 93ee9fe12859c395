package import EventTypes

/// A transaction in a list, as `payments` has it.
package struct ListedPurchase: Hashable, Sendable {
    package let id: TransactionID
    package let accountID: AccountID
    package let productID: ProductID
    package let quantity: Int
    package let price: Money
    package let state: TransactionState
    package let failureReason: String?
    package let isRevoked: Bool
    package let requestedAt: StoreTime

    /// Makes a transaction of a list.
    package init(
        id: TransactionID,
        accountID: AccountID,
        productID: ProductID,
        quantity: Int,
        price: Money,
        state: TransactionState,
        failureReason: String? = nil,
        isRevoked: Bool = false,
        requestedAt: StoreTime
    ) {
        self.id = id
        self.accountID = accountID
        self.productID = productID
        self.quantity = quantity
        self.price = price
        self.state = state
        self.failureReason = failureReason
        self.isRevoked = isRevoked
        self.requestedAt = requestedAt
    }
}
