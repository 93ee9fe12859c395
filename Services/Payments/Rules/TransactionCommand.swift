import EventTypes

/// A command to a transaction: a decision of `payments`, or the processor's answer.
enum TransactionCommand: Hashable, Sendable {
    /// The processor has charged the buyer.
    case confirmCharge
    /// The period of a subscription is paid, or costs nothing.
    case beginPeriod(BegunPeriod)
    /// The account owns the product already, so it is granted without a charge (spec X1).
    case grantOwned(originalID: TransactionID, originalPurchasedAt: StoreTime)
    /// The product costs nothing, so nobody is charged.
    case grantFree
    /// The buyer has to confirm the charge on a page of their bank (`true`), or no longer has to.
    case awaitBuyer(Bool)
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
    /// The period of a subscription that the transaction pays for ends later.
    case extendPeriod(until: StoreTime)
    /// The subscription of a period that a family shares has changed.
    case follow(TransactionPeriod.Shared, until: StoreTime)
    /// The buyer's bank has taken an amount of the charge back, by a dispute with this id of the
    /// processor's.
    case chargeBack(number: Int, amount: Money, dispute: String)
    /// The money of a refund or of a chargeback came back.
    case reverseRefund(number: Int)
}

/// The dates of a subscription's period that begins.
struct BegunPeriod: Hashable, Sendable {
    /// The subscription, which has the id of its first transaction.
    let subscriptionID: TransactionID
    /// The start of its first period.
    let startedAt: StoreTime
    let start: StoreTime
    let end: StoreTime
}
