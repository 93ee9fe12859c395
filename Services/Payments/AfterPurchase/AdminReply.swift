import EventTypes

/// What an administrator's word came to.
enum AdminReply: Sendable {
    /// There is no such transaction.
    case unknown
    /// It does not fit; nothing changed.
    case refused(TransactionRefusal, Transaction)
    /// It has taken effect, now or before.
    case done(Transaction)
    /// It is promised: an attempt that is still to be carried out.
    case owed(ProcessorAttempt, Transaction)
}
