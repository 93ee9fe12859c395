/// Why a command does not fit.
enum TransactionRefusal: Hashable, Sendable {
    /// The transaction has ended otherwise.
    case ended
    /// The buyer was charged, but the transaction does not take the money: it has to be returned.
    case chargeIsStray
    /// The approver has said the opposite.
    case decidedOtherwise
    /// Only what waits for approval can be approved, declined or expired.
    case notDeferred
    /// Only what was purchased can be refunded.
    case notPurchased
    /// Only what was interrupted can be taken up again.
    case notInterrupted
    /// The state is one that a newer version of the store knows.
    case stateUnknown
}
