/// A transaction as `payments` publishes it, at one version.
///
/// Each event contains the whole transaction, so a service needs no other event to act on it. It
/// recognizes an older one by its ``version``.
public struct Transaction: Codable, Hashable, Sendable {
    /// The identifier of the transaction.
    public var id: TransactionID
    /// The first transaction of the same purchase, or of the same subscription.
    ///
    /// It differs from ``id`` in a copy (``TransactionReason/isCopy``) and in later periods of a
    /// subscription. It says nothing about why
    /// the transaction was made: ask ``reason``.
    public var originalID: TransactionID
    /// The reason for which the transaction was made.
    public var reason: TransactionReason
    /// The number of changes to this transaction, from 1.
    ///
    /// The higher version wins.
    public var version: Int
    /// The state of the transaction.
    public var state: TransactionState
    /// The buyer.
    public var accountID: AccountID
    /// The app in which the product was bought.
    public var bundleID: BundleID
    /// The product that was bought.
    public var productID: ProductID
    /// The version of the product that was bought.
    public var productVersion: Int
    /// The type of the product at that version.
    public var productType: ProductType
    /// The number of units.
    public var quantity: Int
    /// The storefront of the purchase.
    public var storefront: Storefront
    /// The total price: the unit price times the quantity.
    ///
    /// It is zero for a restored transaction, and for the repeated purchase of an owned
    /// non-consumable.
    public var price: Money
    /// The app's own opaque name for the buyer (`SKPayment.applicationUsername`).
    public var applicationUsername: String?
    /// The targets of delivery, copied from the product at the time of the purchase.
    public var deliveryPlan: [DeliveryTarget]
    /// The time at which the payment was accepted.
    public var requestedAt: StoreTime
    /// The time at which the charge was confirmed or the restore was made; `nil` before.
    public var purchasedAt: StoreTime?
    /// The time at which the first transaction of this purchase was purchased; `nil` before.
    ///
    /// For a subscription it is the start of its first period (rule S4).
    public var originalPurchasedAt: StoreTime?
    /// The reason for the failure.
    ///
    /// It is set only in the state `failed`.
    public var failureReason: FailureReason?
    /// The time of the refund that took the product away; `nil` if the buyer still has it.
    public var revokedAt: StoreTime?
    /// All refunds in the order of their numbers, reversed ones included; `nil` if there was none.
    public var refunds: [Refund]?
    /// The period of a subscription that the transaction pays for; `nil` for every other product.
    @Boxed public var subscription: TransactionPeriod?
    /// The purchase of another member of the family that the transaction shares; `nil` for the
    /// account's own purchases.
    ///
    /// A copy of a share has it too.
    public var sharedFrom: TransactionID?
    /// `true` while the buyer has to confirm the charge on a page of their bank; `nil` otherwise.
    ///
    /// It is set only in the state `purchasing`. The page itself is in no event: only its buyer learns it.
    public var awaitsBuyer: Bool?

    /// Makes a transaction.
    public init(
        id: TransactionID,
        originalID: TransactionID,
        reason: TransactionReason,
        version: Int,
        state: TransactionState,
        accountID: AccountID,
        bundleID: BundleID,
        productID: ProductID,
        productVersion: Int,
        productType: ProductType,
        quantity: Int,
        storefront: Storefront,
        price: Money,
        applicationUsername: String?,
        deliveryPlan: [DeliveryTarget],
        requestedAt: StoreTime,
        purchasedAt: StoreTime? = nil,
        originalPurchasedAt: StoreTime? = nil,
        failureReason: FailureReason? = nil,
        revokedAt: StoreTime? = nil,
        refunds: [Refund]? = nil,
        subscription: TransactionPeriod? = nil,
        sharedFrom: TransactionID? = nil,
        awaitsBuyer: Bool? = nil
    ) {
        self.id = id
        self.originalID = originalID
        self.reason = reason
        self.version = version
        self.state = state
        self.accountID = accountID
        self.bundleID = bundleID
        self.productID = productID
        self.productVersion = productVersion
        self.productType = productType
        self.quantity = quantity
        self.storefront = storefront
        self.price = price
        self.applicationUsername = applicationUsername
        self.deliveryPlan = deliveryPlan
        self.requestedAt = requestedAt
        self.purchasedAt = purchasedAt
        self.originalPurchasedAt = originalPurchasedAt
        self.failureReason = failureReason
        self.revokedAt = revokedAt
        self.refunds = refunds
        self.subscription = subscription
        self.sharedFrom = sharedFrom
        self.awaitsBuyer = awaitsBuyer
    }
}

extension Transaction {
    /// The money that was given back and not returned to the store, in the currency of ``price``.
    public var refundedAmount: Money {
        let sum = (refunds ?? []).reduce(Int64(0)) { sum, refund in
            refund.reversedAt == nil ? sum + refund.amount.minorUnits : sum
        }
        return Money(minorUnits: sum, currency: price.currency)
    }

    /// The part of the price that was refunded, in thousandths of a percent: 100,000 is all of it.
    ///
    /// Rounded down, but never to 0 if anything was refunded. It is `nil` if nothing was refunded,
    /// or nothing was paid.
    public var refundedMilliPercent: Int64? {
        let refunded = refundedAmount.minorUnits
        guard refunded > 0, price.minorUnits > 0 else { return nil }
        // 128 bits, because a large amount times 100,000 does not fit in 64.
        let share = Int128(refunded) * 100_000 / Int128(price.minorUnits)
        return max(1, Int64(min(share, 100_000)))
    }
}
