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
    /// The request was decided otherwise before: with another amount, or another say about the
    /// product. Or the refund of a part failed, and another refund was made since.
    case decidedOtherwise
    /// The processor could not make the refund of the approval, and no money moved.
    case refundFailed(number: Int)
    /// The money is back already, so the request cannot be declined.
    case alreadyRefunded
    /// A decision to decline gives no reason.
    case reasonMissing
    /// The transaction does not allow the refund.
    case transaction(TransactionRefusal)
}
