package import EventTypes

/// The ways in which an operator can name a purchase.
package enum StorySubject: Hashable, Sendable {
    case transaction(TransactionID)
    case account(AccountID)

    /// Reads a transaction id, an order id, or otherwise an account id.
    ///
    /// - Returns: `nil` if it is none of them.
    package init?(_ text: String, isAccount: Bool = false) {
        if !isAccount {
            if let order = OrderID(rawValue: text) {
                self = .transaction(order.transactionID)
                return
            }
            if let transaction = TransactionID(rawValue: text) {
                self = .transaction(transaction)
                return
            }
        }
        guard let account = AccountID(rawValue: text) else { return nil }
        self = .account(account)
    }
}
