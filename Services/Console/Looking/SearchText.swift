import EventTypes
import Foundation

/// The text of a search, and what it can be.
///
/// Pure.
struct SearchText: Hashable, Sendable {
    /// The text without spaces around it.
    let text: String
    /// The transaction that it can be.
    let transaction: TransactionID?
    /// The order that it can be.
    let order: OrderID?
    /// The account that it can be.
    let account: AccountID?
    /// The event that it can be.
    let event: EventID?

    init(_ text: String) {
        self.text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        transaction = TransactionID(rawValue: self.text)
        order = OrderID(rawValue: self.text.uppercased())
        account = AccountID(rawValue: self.text)
        event = EventID(self.text)
    }

    /// The transactions to look for; an order is the transaction of its first purchase.
    var transactions: [TransactionID] {
        [order?.transactionID, transaction].compactMap(\.self)
    }

    /// The things to look for, in words.
    var words: [String] {
        [
            transaction.map { "the transaction \($0)" }, order.map { "the order \($0)" },
            account.map { "the account \($0)" }, event.map { "the event \($0)" },
        ].compactMap(\.self)
    }
}
