import EventTypes

/// What taking up an interrupted payment came to.
enum ResumptionReply: Sendable {
    /// There is no such transaction.
    case unknown
    /// The transaction was not interrupted.
    case notInterrupted(Transaction)
    /// It would be refused as a new payment.
    case refused(PaymentRefusal)
    /// The transaction that takes it up, now or before.
    case resumed(Transaction)
}
