/// The reasons to refuse a buyer's request for a refund, or a decision about one.
enum RefundRequestRefusal: Error, Hashable, Sendable {
    /// The purchase has an open request already.
    case alreadyOpen
    /// Everything that was paid is refunded or about to be, or nothing was paid.
    case nothingToRefund
    /// The purchase has as many requests as it may have.
    case tooMany(max: Int)
    /// The key was used for another request.
    case keyReused
    /// The request was decided otherwise before, or with another amount.
    case decidedOtherwise
    /// The money is back already, so the request cannot be declined.
    case alreadyRefunded
    /// A decision to decline gives no reason.
    case reasonMissing
    /// The transaction does not allow the refund.
    case transaction(TransactionRefusal)
}
