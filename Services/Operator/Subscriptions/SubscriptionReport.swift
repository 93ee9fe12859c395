import EventTypes

/// Subscriptions in words.
enum SubscriptionReport {
    /// A table of subscriptions, with its head.
    static func table(_ subscriptions: [Subscription]) -> [[String]] {
        [["ID", "ACCOUNT", "PRODUCT", "STATE", "PERIOD ENDS", "NEXT"]]
            + subscriptions.map {
                [
                    $0.id.rawValue, $0.accountID.rawValue, $0.product.id.rawValue,
                    $0.state.rawValue, "\($0.period.end)", next(of: $0),
                ]
            }
    }

    /// One subscription, a fact a line.
    static func text(of subscription: Subscription) -> String {
        let period = subscription.period
        var lines = [
            """
            Subscription \(subscription.id), version \(subscription.version)
            \(subscription.accountID) (\(subscription.bundleID)): \(subscription.product.id), \
            group \(subscription.groupID), \(subscription.state)
            period \(period.start) to \(period.end), transaction \(period.transactionID), \
            \(period.price)
            """
        ]
        if let end = subscription.gracePeriodEnd { lines.append("grace until \(end)") }
        if let end = subscription.billingRetryEnd {
            lines.append("charged again until \(end); tried \(subscription.attempts) times")
        }
        lines.append("next: \(next(of: subscription))")
        if let increase = subscription.priceIncrease {
            let status = increase.status.rawValue
            lines.append(
                "price increase to \(increase.price), \(status), from \(increase.effectiveAt)"
            )
        }
        return lines.joined(separator: "\n")
    }

    /// The product and the price of the next period, or the reason why there is none.
    private static func next(of subscription: Subscription) -> String {
        if let product = subscription.nextProduct, let price = subscription.nextPrice {
            return product.id == subscription.product.id
                ? "\(price)" : "\(product.id), \(price)"
        }
        return "none (\(subscription.autoRenewOffReason?.rawValue ?? "ended"))"
    }
}
