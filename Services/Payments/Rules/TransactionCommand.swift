import EventTypes

/// A command to a transaction: a decision of `payments`, or the processor's answer.
enum TransactionCommand: Hashable, Sendable {
    /// The processor has charged the buyer.
    case confirmCharge
    /// The account owns the product already, so it is granted without a charge (spec X1).
    case grantOwned(originalID: TransactionID, originalPurchasedAt: StoreTime)
    /// The product costs nothing, so nobody is charged.
    case grantFree
    /// The processor has not charged the buyer and will not.
    case fail(FailureReason)
    /// The processor requires an approval first (Ask to Buy).
    case awaitApproval
    /// The approver has declined.
    case declineApproval
    /// The approval was not given in time.
    case expireApproval
    /// An amount of the charge was refunded; it is zero if there was no charge.
    case refund(number: Int, amount: Money, revokes: Bool)
    /// The money of a refund came back.
    case reverseRefund(number: Int)
}
