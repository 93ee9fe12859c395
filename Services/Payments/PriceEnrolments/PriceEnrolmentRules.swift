import EventTypes
import Subscriptions

/// The higher prices that running subscriptions get from the catalog (rules S31 and S121 of
/// docs/subscriptions.md).
///
/// Pure.
enum PriceEnrolmentRules {
    /// The event with which a subscription learns of a change of the catalog.
    ///
    /// - Parameters:
    ///   - enrolment: The change.
    ///   - subscription: The subscription.
    ///   - time: The present.
    /// - Returns: The event; `nil` if the change does not concern the subscription.
    static func event(
        of enrolment: PriceEnrolment,
        for subscription: Subscription,
        at time: StoreTime
    ) -> SubscriptionEvent? {
        guard concerns(enrolment, subscription) else { return nil }
        let increase = SubscriptionRules.increase(
            of: subscription,
            to: enrolment.price,
            from: enrolment.effectiveAt,
            at: time
        )
        guard enrolment.isWithdrawn else { return .priceIncreaseScheduled(increase) }
        return subscription.priceIncrease?.id == increase.id ? .priceIncreaseWithdrawn : nil
    }

    /// Whether a change concerns a subscription: it runs, and renews as the product in the storefront.
    ///
    /// A price that is taken back concerns the subscriptions that have an increase to it. Some of them
    /// will renew as another product; their customers may still come back to this one.
    ///
    /// ``PriceEnrolmentStore/page(of:limit:lookMax:on:)`` asks the database for the same.
    private static func concerns(_ enrolment: PriceEnrolment, _ subscription: Subscription) -> Bool
    {
        let product =
            enrolment.isWithdrawn
            ? subscription.priceIncrease?.productID : subscription.renewalProduct.id
        return subscription.state.isRunning && subscription.storefront == enrolment.key.storefront
            && product == enrolment.key.productID
    }

    /// The higher price that a new subscription missed, because it began while others were told.
    ///
    /// The customer is told at the first renewal. The price counts from the renewal after that, because
    /// the notice takes time.
    ///
    /// - Parameters:
    ///   - subscription: The subscription, whose renewal is due.
    ///   - product: The product that it renews as, with the prices of the present.
    ///   - time: The present.
    /// - Returns: The increase; `nil` if it missed none.
    static func missed(
        by subscription: Subscription,
        of product: Product?,
        at time: StoreTime
    ) -> PriceIncrease? {
        guard subscription.period.number == 1, subscription.priceIncrease == nil,
            let change = product?.priceChanges[subscription.storefront],
            change.existingSubscribers == .raise,
            change.price.currency == subscription.renewalProduct.price.currency,
            change.price.minorUnits > subscription.renewalProduct.price.minorUnits
        else { return nil }
        return SubscriptionRules.increase(
            of: subscription,
            to: change.price,
            from: change.from,
            at: time
        )
    }
}
