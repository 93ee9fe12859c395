import EventTypes
import StoreAPI
import Subscriptions

extension SubscriptionHandler {
    /// A decision about a subscription.
    enum Decision: Hashable, Sendable {
        /// Whether it renews at the end of its period.
        case autoRenew(Bool)
        /// The product of the next period.
        case product(ProductID)
        /// The payment method that pays from now on; what is owed is charged at once.
        case method(PaymentMethod)
        /// The answer to the question about a higher price; `nil` stands for the present question.
        case price(PriceChangeID?, isAgreed: Bool)
        /// A higher price of the next product from a time on, of which the customer is told in time;
        /// `nil` stands for the present.
        case raise(ProductID, to: Money, from: StoreTime?)
        /// The end of such an increase.
        case withdrawRaise
        /// A question about a higher price at once, in a test.
        case ask(Money)
        /// The end of the subscription now, in a test.
        case end(ExpirationIntent)
        /// A charge now, in a test.
        case charge(RenewalPlan.Request)
    }

    /// The answer to a decision.
    enum Reply: Hashable, Sendable {
        /// The subscription does not exist, or it is somebody else's.
        case unknown
        case refused(SubscriptionChangeRefusal)
        /// The subscription afterwards.
        case done(Subscription)
    }

    /// The key of a charge among those of the account.
    ///
    /// No request of an account has such a key: those contain no space.
    static func chargeKey(
        _ key: IdempotencyKey,
        of subscription: Subscription
    ) -> UsedKey {
        UsedKey(
            idempotencyKey: IdempotencyKey(unchecked: "charge of \(subscription.id) \(key)"),
            fingerprint: Array("charge".utf8)
        )
    }
}
