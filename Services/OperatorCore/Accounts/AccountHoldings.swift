package import EventTypes

/// The things that an account has at a time, and the conditions under which it may pay.
package struct AccountHoldings: Hashable, Sendable {
    /// A product that the account has.
    package struct Owned: Hashable, Sendable {
        package let bundleID: BundleID
        package let productID: ProductID
        /// The first transaction of the purchase that granted it.
        package let originalID: TransactionID
        /// The time at which it ends, unless it is renewed; `nil` if it never ends.
        package let endsAt: StoreTime?
        /// Whether it is renewed at its end.
        ///
        /// It is `nil` if that is not known: of a period that a family shares, and while a renewal is
        /// unpaid.
        package let isRenewing: Bool?
    }

    /// An amount of a unit that purchases have credited.
    package struct Balance: Hashable, Sendable {
        package let bundleID: BundleID
        package let unit: String
        package let amount: Int64
    }

    /// The conditions for payments in an app.
    package struct Standing: Hashable, Sendable {
        package let bundleID: BundleID
        package let canMakePayments: Bool
        /// The storefront; `nil` if nobody has set one.
        package let storefront: Storefront?
        package let family: Family?
    }

    /// A purchase that the buyer has begun outside the app, and that waits for the app.
    package struct Intent: Hashable, Sendable {
        package let bundleID: BundleID
        package let productID: ProductID
        package let quantity: Int
        package let createdAt: StoreTime
    }

    /// The products, in the order of apps and ids.
    package let owned: [Owned]
    /// Whether there are more products.
    package let isOwnedCut: Bool
    /// The balances, in the order of apps and units.
    package let balances: [Balance]
    /// Whether there are more balances.
    package let isBalancesCut: Bool
    /// The apps in which somebody has set a condition, or in which the account has a family.
    package let standings: [Standing]
    /// The purchases that wait for the app, the oldest first.
    package let intents: [Intent]

    /// Whether the store knows nothing of the account.
    package var isEmpty: Bool {
        owned.isEmpty && !isOwnedCut && balances.isEmpty && standings.isEmpty && intents.isEmpty
    }

    /// Makes the holdings.
    package init(
        owned: [Owned],
        isOwnedCut: Bool = false,
        balances: [Balance],
        isBalancesCut: Bool = false,
        standings: [Standing],
        intents: [Intent] = []
    ) {
        self.owned = owned
        self.isOwnedCut = isOwnedCut
        self.balances = balances
        self.isBalancesCut = isBalancesCut
        self.standings = standings
        self.intents = intents
    }
}

extension AccountHoldings.Owned {
    /// Makes a product that is owned for ever.
    package init(
        _ productID: ProductID,
        in bundleID: BundleID,
        since originalID: TransactionID
    ) {
        self.init(
            bundleID: bundleID,
            productID: productID,
            originalID: originalID,
            endsAt: nil,
            isRenewing: false
        )
    }

    /// Makes a product of a subscription, as its dates are at a time (rule S80 of
    /// docs/subscriptions.md).
    ///
    /// It is `nil` if the product has ended, or has not begun.
    ///
    /// - Parameters:
    ///   - productID: The product.
    ///   - bundleID: The app.
    ///   - originalID: The first transaction.
    ///   - end: The end of the first period, which counts until the subscription has arrived.
    ///   - subscription: The subscription; `nil` if it has not arrived yet.
    ///   - now: The time.
    package init?(
        _ productID: ProductID,
        in bundleID: BundleID,
        since originalID: TransactionID,
        until end: StoreTime,
        of subscription: Subscription?,
        at now: StoreTime
    ) {
        var end = end
        if let subscription {
            let running = subscription.runningPeriod(at: now)
            guard running.product.id == productID else { return nil }
            let newest = subscription.period
            end =
                newest.product.id == productID
                ? subscription.entitlementEnd ?? newest.effectiveEnd : running.effectiveEnd
        }
        guard now < end else { return nil }
        var isRenewing: Bool?
        if let subscription, subscription.state == .active {
            isRenewing = subscription.nextProduct?.id == productID
        }
        self.init(
            bundleID: bundleID,
            productID: productID,
            originalID: originalID,
            endsAt: end,
            isRenewing: isRenewing
        )
    }
}
