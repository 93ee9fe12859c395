import EventTypes
import Subscriptions

/// The rules for purchases of subscriptions (rules S100 to S112 of docs/subscriptions.md).
///
/// Pure.
enum SubscriptionRules {
    /// The period that a purchase pays for; `nil` if the product is no subscription.
    ///
    /// A purchase that would not be charged now is refused: the running product again, and a product
    /// that takes effect later.
    ///
    /// - Parameters:
    ///   - product: The product.
    ///   - subscription: The account's subscription in the product's group; `nil` if it has none.
    ///   - time: The present.
    ///   - rules: The rules of due actions, for an end that was not carried out yet (rule S205).
    ///   - offer: The offer at which it is charged; `nil` for the ordinary price.
    ///   - price: The ordinary price.
    /// - Returns: The period, or the reason to refuse the purchase.
    static func period(
        of product: Product,
        meeting subscription: Subscription?,
        at time: StoreTime,
        by rules: DueActionRules,
        offer: PeriodOffer? = nil,
        renewingAt price: Money? = nil
    ) -> Result<TransactionPeriod?, PaymentRefusal> {
        guard product.type == .autoRenewableSubscription, let terms = product.subscription else {
            return .success(nil)
        }
        var present = subscription
        if let subscription { present?.state = rules.state(of: subscription, at: time) }
        let choice = ProductChoice.judge(product.id, terms, meeting: present)
        guard case .charge(let replaced) = choice else {
            return .failure(.alreadySubscribed(to: present?.product.id ?? product.id))
        }
        return .success(
            TransactionPeriod(
                terms: terms,
                replaces: replaced,
                offer: offer,
                renewalPrice: offer == nil ? nil : price
            )
        )
    }

    /// The copy of the running period for a payment that redeems an offer for the running product
    /// (rules S52 and S53); `nil` if the product does not run.
    ///
    /// While the store is charging for another product, which then runs, the offer could not begin.
    ///
    /// - Parameters:
    ///   - offer: The offer.
    ///   - product: The product.
    ///   - subscription: The account's subscription in the product's group; `nil` if it has none.
    ///   - time: The present.
    ///   - rules: The rules of due actions, for an end that was not carried out yet (rule S205).
    /// - Returns: The copy, which names the offer.
    static func redemption(
        of offer: PeriodOffer,
        for product: Product,
        meeting subscription: Subscription?,
        at time: StoreTime,
        by rules: DueActionRules
    ) -> TransactionPeriod? {
        guard let subscription, subscription.product.id == product.id else { return nil }
        guard subscription.charge.map({ $0.product.id == product.id }) ?? true else { return nil }
        switch rules.state(of: subscription, at: time) {
        case .active, .inGracePeriod: break
        case .inBillingRetryPeriod, .expired, .revoked, .unknown: return nil
        }
        let period = subscription.runningPeriod(at: time)
        return TransactionPeriod(
            terms: period.product.terms,
            start: period.start,
            end: period.end,
            paidBy: period.transactionID,
            offer: period.offer,
            renewalPrice: period.offer == nil ? nil : period.product.price,
            redeems: offer
        )
    }

    /// Whether an account may have the introductory offer of a group (rule S44).
    ///
    /// It may once, and not while a subscription of the group runs.
    ///
    /// - Parameters:
    ///   - row: The account's row in the group, locked for a purchase.
    ///   - time: The present.
    ///   - rules: The rules of due actions, for an end that was not carried out yet (rule S205).
    /// - Returns: Whether it may.
    static func mayHaveIntroductoryOffer(
        _ row: SubscriptionRow,
        at time: StoreTime,
        by rules: DueActionRules
    ) -> Bool {
        guard row.introductoryID == nil else { return false }
        return row.subscription.map { !rules.state(of: $0, at: time).isRunning } ?? true
    }

    /// The first period of a product's introductory offer in a storefront; `nil` if there is none.
    static func introductoryOffer(
        of product: Product,
        in storefront: Storefront
    ) -> PeriodOffer? {
        guard product.type == .autoRenewableSubscription, let terms = product.introductoryOffer,
            let price = terms.prices[storefront], let ordinary = product.prices[storefront],
            price.currency == ordinary.currency
        else { return nil }
        if case .unknown = terms.mode { return nil }
        return PeriodOffer(
            type: .introductory,
            mode: terms.mode,
            period: terms.period,
            numberOfPeriods: terms.numberOfPeriods,
            price: price
        )
    }

    /// The event of a choice of a product for the next period; `nil` if it changes nothing.
    ///
    /// - Parameters:
    ///   - product: The product at its newest version; `nil` if there is none.
    ///   - subscription: The subscription, with its present state.
    /// - Returns: The event, or the reason to refuse the choice.
    static func choice(
        of product: Product?,
        meeting subscription: Subscription
    ) -> Result<SubscriptionEvent?, SubscriptionChangeRefusal> {
        guard subscription.state.isRunning else { return .failure(.ended) }
        guard let product, product.isOnSale, let terms = product.subscription,
            let price = product.prices[subscription.storefront]
        else { return .failure(.productUnavailable) }
        guard terms.groupID == subscription.groupID else { return .failure(.otherGroup) }
        switch ProductChoice.judge(product.id, terms, meeting: subscription) {
        case .charge: return .failure(.needsPayment)
        case .schedule:
            let chosen = SubscriptionProduct(id: product.id, terms: terms, price: price)
            return .success(.productScheduled(chosen))
        case .withdraw: return .success(.scheduleWithdrawn)
        case .turnOn: return .success(.autoRenewTurnedOn)
        case .chargeOwed:
            let storefront = subscription.storefront
            return .success(.chargeRequested(RenewalQuote(storefront: storefront, price: price)))
        case .current: return .success(nil)
        }
    }
}
