import EventTypes
import Ledger

/// The effect of a command on a transaction.
enum TransactionMove: Hashable, Sendable {
    /// The transaction changes: its new record, the type of its event, and the posting of the money
    /// that moved.
    case moved(TransactionRecord, EventType, Posting?)
    /// The transaction is already in the state that the command asks for.
    case unchanged
    /// The command does not fit the state of the transaction.
    case refused(TransactionRefusal)
}
