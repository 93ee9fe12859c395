import EventTypes
import Hummingbird
import ServiceKit

extension StoreRequestContext {
    /// Returns the transaction that a path names.
    ///
    /// - Throws: ``HTTPProblem`` if the path names none.
    func transactionInPath() throws -> TransactionID {
        guard let id = parameters.get("id").flatMap({ TransactionID(rawValue: $0) }) else {
            throw HTTPProblem.transactionUnknown
        }
        return id
    }

    /// Returns the subscription that a path names.
    ///
    /// - Throws: ``HTTPProblem`` if the path names none.
    func subscriptionInPath() throws -> TransactionID {
        guard let id = parameters.get("id").flatMap({ TransactionID(rawValue: $0) }) else {
            throw HTTPProblem.subscriptionUnknown
        }
        return id
    }
}
