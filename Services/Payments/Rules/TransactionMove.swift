import EventTypes
import Ledger

/// What a command does to a transaction.
enum TransactionMove: Hashable, Sendable {
    /// The transaction changes: its new form, the event that says so, and the money that moved.
    case moved(TransactionRecord, EventType, Posting?)
    /// The transaction is as the command wants it already.
    case unchanged
    /// The command does not fit the state the transaction is in.
    case refused(TransactionRefusal)
}
