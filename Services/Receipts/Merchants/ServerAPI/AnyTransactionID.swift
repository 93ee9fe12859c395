import EventTypes
import ServiceKit

/// The id of a customer in the paths of the server API: any transaction, or the app transaction.
///
/// The two kinds have no numbers in common.
enum AnyTransactionID: Hashable, Sendable {
    case transaction(TransactionID)
    case appTransaction(Int64)

    /// The first number of an app transaction.
    ///
    /// Numbers of transactions never get that high.
    private static let firstAppTransactionID: Int64 = 700_000_000_000_000_001

    /// Parses a part of a path.
    ///
    /// - Throws: ``ServerAPIError/invalidTransactionID``.
    init(_ text: String?) throws(ServerAPIError) {
        guard let text, let id = TransactionID(rawValue: text), id.number > 0 else {
            throw .invalidTransactionID
        }
        // The store has never issued an id with leading zeros.
        guard !text.hasPrefix("0") else { throw .invalidTransactionID }
        self =
            id.number >= Self.firstAppTransactionID
            ? .appTransaction(id.number) : .transaction(id)
    }

    /// Returns the transaction, for calls that do not accept an app transaction.
    ///
    /// - Throws: ``ServerAPIError/appTransactionIDNotSupported``.
    func requireTransaction() throws(ServerAPIError) -> TransactionID {
        guard case .transaction(let id) = self else { throw .appTransactionIDNotSupported }
        return id
    }
}
