import EventTypes
import StoreAPI

/// The rules for what a subscription gives its account (rule S80 of docs/subscriptions.md).
///
/// Pure. The dates decide, so an event that comes late never prolongs an entitlement.
enum SubscriptionEntitlementRules {
    /// Returns the entitlement with the end that the subscription gives it; `nil` if it has not begun
    /// yet.
    ///
    /// - Parameters:
    ///   - entitlement: The entitlement to one of the products that the subscription had.
    ///   - subscription: The subscription.
    ///   - time: The present.
    /// - Returns: The entitlement with its end.
    static func entitlement(
        _ entitlement: Entitlement,
        of subscription: Subscription,
        at time: StoreTime
    ) -> Entitlement? {
        let newest = subscription.period
        let running = subscription.runningPeriod(at: time)
        var known = entitlement
        if newest.product.id == entitlement.productID {
            if running.product.id != entitlement.productID { return nil }
            known.endsAt = subscription.entitlementEnd ?? newest.effectiveEnd
            if subscription.state == .revoked { known.revokedAt = newest.earlyEnd?.time }
        } else if let earlier = subscription.earlierPeriod,
            earlier.product.id == entitlement.productID
        {
            known.endsAt = earlier.effectiveEnd
        } else {
            // Its periods are older than those that are stored, so they are over.
            known.endsAt = (subscription.earlierPeriod ?? newest).start
        }
        return known
    }
}
