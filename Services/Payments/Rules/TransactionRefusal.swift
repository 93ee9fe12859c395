import EventTypes

/// The reason why a command is refused.
enum TransactionRefusal: Hashable, Sendable {
    /// The transaction has already ended in another way.
    case ended
    /// The buyer was charged for a transaction that cannot take the charge, so the money has to be
    /// returned.
    case chargeIsStray
    /// The approver has decided the opposite.
    case decidedOtherwise
    /// The transaction is not `purchasing`, so it cannot wait for its buyer.
    case notPurchasing
    /// The transaction does not wait for approval, so it cannot be approved, declined or expired.
    case notDeferred
    /// The transaction was not purchased, so it cannot be refunded.
    case notPurchased
    /// The transaction is a copy, which nobody paid; only its original can be refunded.
    case isCopy
    /// Another member of the family has paid for it.
    case isShared
    /// The refund would be more than the rest: the part of the price that is not refunded yet.
    case refundTooLarge(rest: Money)
    /// The amount of a refund is zero or negative.
    case refundNotPositive
    /// The amount of a refund is in another currency than the price.
    case refundInOtherCurrency
    /// Everything is refunded, so that no further refund can take the product away.
    case nothingToRefund
    /// The transaction has as many refunds as it may have.
    case tooManyRefunds(max: Int)
    /// The transaction has no refund of this number.
    case refundUnknown(number: Int)
    /// The refund is not confirmed yet, so it cannot be reversed.
    case refundNotSettled(number: Int)
    /// The buyer's bank took the money, so only the end of the dispute can bring it back.
    case refundIsDisputed(number: Int)
    /// The processor could not make the refund that was asked for under the key; no money moved.
    case refundFailed(number: Int)
    /// The processor could not reverse the refund; no money moved.
    case reversalFailed(number: Int)
    /// The idempotency key was used for another refund of the transaction.
    case refundKeyReused
    /// The transaction was not interrupted, so it cannot be resumed.
    case notInterrupted
    /// The state is unknown; a newer version of the store wrote it.
    case stateUnknown
}
