import EventTypes

/// What happens to a transaction, as `payments` decides or learns it.
enum TransactionCommand: Hashable, Sendable {
    /// The processor has charged the buyer.
    case confirmCharge
    /// The account owns the product already; it is granted again without a charge (spec X1).
    case grantOwned(originalID: TransactionID, originalPurchasedAt: Timestamp)
    /// The product costs nothing, so nobody is charged.
    case grantFree
    /// The processor has not charged the buyer and will not.
    case fail(FailureReason)
    /// The processor wants somebody's approval first (Ask to Buy).
    case awaitApproval
    /// The approver said no.
    case declineApproval
    /// Nobody approved in time.
    case expireApproval
    /// The charge was given back in full, or there was none.
    case refund
}
