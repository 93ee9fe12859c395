import EventTypes

extension SubscriptionRules {
    /// A higher price for a subscription.
    ///
    /// Its id follows from what is asked for, so a repeated request is the same increase.
    ///
    /// - Parameters:
    ///   - subscription: The subscription.
    ///   - price: The new price of its next product.
    ///   - time: The time from which on a renewal costs it; `nil` for the present.
    ///   - now: The present, which is no part of the id: the same request comes again later.
    /// - Returns: The increase, of which the customer does not know yet.
    static func increase(
        of subscription: Subscription,
        to price: Money,
        from time: StoreTime?,
        at now: StoreTime
    ) -> PriceIncrease {
        let product = (subscription.pendingProduct ?? subscription.product).id
        let from = time?.millisecondsSinceEpoch ?? 0
        let terms = "\(price.minorUnits)\(price.currency):\(from)"
        return PriceIncrease(
            id: PriceChangeID(unchecked: "\(subscription.id):\(terms)"),
            productID: product,
            price: price,
            effectiveAt: time ?? now
        )
    }
}
