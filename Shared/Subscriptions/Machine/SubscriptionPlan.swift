public import EventTypes

/// A subscription after an event, and everything that has to be written with it.
///
/// The due action is not part of it: ``DueActionRules/next(for:)`` derives it from the
/// subscription.
public struct SubscriptionPlan: Hashable, Sendable {
    /// A refund to make.
    public struct OwedRefund: Hashable, Sendable {
        /// The transaction of the period.
        public var transactionID: TransactionID
        /// The amount, never zero.
        public var amount: Money
        /// Whether it takes the period away.
        ///
        /// The rest of a period that an upgrade has ended does not, even if that is all of it (rule
        /// S103).
        public var revokes: Bool

        /// Makes a refund.
        public init(transactionID: TransactionID, amount: Money, revokes: Bool = false) {
            self.transactionID = transactionID
            self.amount = amount
            self.revokes = revokes
        }
    }

    /// The subscription after the event.
    public var subscription: Subscription
    /// The cause that is published; `nil` for a change that concerns nobody else (rule S7).
    public var cause: SubscriptionCause?
    /// The charge to send to the processor.
    @Boxed public var charge: RenewalCharge? = nil
    /// The period whose transaction is made with this change (rule S2).
    @Boxed public var newPeriod: PaidPeriod? = nil
    /// Older periods that changed, whose transactions are signed again.
    public var changedPeriods: [PaidPeriod] = []
    /// The refunds to make (rules S101 and S131).
    public var refunds: [OwedRefund] = []
    /// The transaction whose refund, or its reversal, is the cause (rows e34 to e38).
    public var refundedTransactionID: TransactionID?

    /// Makes a plan.
    public init(subscription: Subscription, cause: SubscriptionCause? = nil) {
        self.subscription = subscription
        self.cause = cause
    }

    /// The notifications to send, in this order (rule S90).
    public var notifications: [SubscriptionNotification] {
        cause?.notifications(of: subscription) ?? []
    }
}
