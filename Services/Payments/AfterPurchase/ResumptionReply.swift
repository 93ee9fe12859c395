import EventTypes

/// The result of resuming an interrupted payment.
enum ResumptionReply: Sendable {
    /// There is no such transaction.
    case unknown
    /// The transaction was not interrupted.
    case notInterrupted(Transaction)
    /// The payment would be refused if it were new.
    case refused(PaymentRefusal)
    /// The transaction that resumes the payment, made now or earlier.
    case resumed(Transaction)
}
