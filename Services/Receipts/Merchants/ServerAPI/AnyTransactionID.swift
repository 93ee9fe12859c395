import EventTypes
import ServiceKit

/// What the paths of the server API name a customer by: any transaction, or the app transaction.
///
/// The two share no number.
enum AnyTransactionID: Hashable, Sendable {
    case transaction(TransactionID)
    case appTransaction(Int64)

    /// Reads a part of a path.
    ///
    /// - Throws: ``ServerAPIError/invalidTransactionID``.
    init(_ text: String?) throws(ServerAPIError) {
        guard let text, let id = TransactionID(rawValue: text), id.number > 0 else {
            throw .invalidTransactionID
        }
        // Leading zeros name no transaction that the store has ever named.
        guard !text.hasPrefix("0") else { throw .invalidTransactionID }
        self =
            id.number >= AccountHistory.firstAppTransactionID
            ? .appTransaction(id.number) : .transaction(id)
    }

    /// The transaction, where an app transaction will not do.
    ///
    /// - Throws: ``ServerAPIError/appTransactionIDNotSupported``.
    func requireTransaction() throws(ServerAPIError) -> TransactionID {
        guard case .transaction(let id) = self else { throw .appTransactionIDNotSupported }
        return id
    }
}
