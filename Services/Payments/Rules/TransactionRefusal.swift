/// The reason why a command is refused.
enum TransactionRefusal: Hashable, Sendable {
    /// The transaction has already ended in another way.
    case ended
    /// The buyer was charged for a transaction that cannot take the charge, so the money has to be
    /// returned.
    case chargeIsStray
    /// The approver has decided the opposite.
    case decidedOtherwise
    /// The transaction does not wait for approval, so it cannot be approved, declined or expired.
    case notDeferred
    /// The transaction was not purchased, so it cannot be refunded.
    case notPurchased
    /// The transaction was not interrupted, so it cannot be resumed.
    case notInterrupted
    /// The state is unknown; a newer version of the store wrote it.
    case stateUnknown
}
