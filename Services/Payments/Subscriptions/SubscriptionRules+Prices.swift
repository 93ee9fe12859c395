import EventTypes

extension SubscriptionRules {
    /// A higher price that an administrator asks for.
    ///
    /// The catalog's price is never exceeded: the renewal would charge that one, and the consents to
    /// the higher price would be for nothing.
    ///
    /// - Parameters:
    ///   - product: The product at its newest version; `nil` if there is none.
    ///   - id: The id of the product.
    ///   - price: The new price.
    ///   - time: The time from which on a renewal costs it; `nil` for the present.
    ///   - subscription: The subscription, with its present state.
    ///   - now: The present.
    /// - Returns: The increase, or the reason to refuse it.
    static func raise(
        of product: Product?,
        _ id: ProductID,
        to price: Money,
        from time: StoreTime?,
        meeting subscription: Subscription,
        at now: StoreTime
    ) -> Result<PriceIncrease, SubscriptionChangeRefusal> {
        guard subscription.state.isRunning else { return .failure(.ended) }
        guard id == subscription.renewalProduct.id else {
            return .failure(.otherProduct)
        }
        guard let listed = product?.prices[subscription.storefront] else {
            return .failure(.productUnavailable)
        }
        guard price.currency == listed.currency else { return .failure(.noIncrease) }
        guard price.minorUnits <= listed.minorUnits else { return .failure(.aboveCatalog) }
        return .success(increase(of: subscription, to: price, from: time, at: now))
    }

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
        let product = subscription.renewalProduct.id
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
