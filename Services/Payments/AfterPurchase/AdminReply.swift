import EventTypes

/// The result of an administrator's request.
enum AdminReply: Sendable {
    /// There is no such transaction.
    case unknown
    /// The request does not fit the transaction; nothing changed.
    case refused(TransactionRefusal, Transaction)
    /// The request has taken effect, now or earlier.
    case done(Transaction)
    /// The request is committed as an attempt that is still to be carried out.
    case accepted(ProcessorAttempt, Transaction)
}
