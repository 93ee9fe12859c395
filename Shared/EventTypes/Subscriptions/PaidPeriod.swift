/// One period of a subscription, which belongs to exactly one transaction (rule S2).
///
/// It begins with ``start`` and ends before ``end``. A period that was renewed early begins in the
/// future (rule S81).
public struct PaidPeriod: Codable, Hashable, Sendable {
    /// The transaction of the period.
    public var transactionID: TransactionID
    /// The one who began the period (rule S5).
    public var reason: PeriodReason
    /// The product, with the price at which it renews (rule S31).
    public var product: SubscriptionProduct
    /// The amount that was charged for this period (rule S32).
    public var price: Money
    /// The offer at which it was charged; `nil` if it was charged at the ordinary price.
    public var offer: PeriodOffer?
    /// The time from which ``end`` is counted (rules S20 and S25).
    public var anchor: StoreTime
    /// The number of the period since the anchor, from 1 (rule S20).
    public var number: Int
    /// The first moment of the period: `purchaseDate` of its transaction.
    public var start: StoreTime
    /// The moment at which the period is over: `expiresDate` of its transaction.
    ///
    /// It is stored and never computed again (rule S27).
    public var end: StoreTime
    /// The charge that paid a renewal (rule S84); `nil` for a purchase.
    public var charge: RenewalChargeKey?
    /// The sum of its refunds, confirmed or not (rule S102).
    public var refunded: Money
    /// The end of the service before ``end``; `nil` if nothing ended it early.
    public var earlyEnd: EarlyEnd?

    /// Makes a period.
    public init(
        transactionID: TransactionID,
        reason: PeriodReason,
        product: SubscriptionProduct,
        price: Money,
        offer: PeriodOffer? = nil,
        anchor: StoreTime,
        number: Int,
        start: StoreTime,
        end: StoreTime,
        charge: RenewalChargeKey? = nil,
        refunded: Money? = nil,
        earlyEnd: EarlyEnd? = nil
    ) {
        self.transactionID = transactionID
        self.reason = reason
        self.product = product
        self.price = price
        self.offer = offer
        self.anchor = anchor
        self.number = number
        self.start = start
        self.end = end
        self.charge = charge
        self.refunded = refunded ?? .zero(price.currency)
        self.earlyEnd = earlyEnd
    }

    /// The length by which ``end`` is counted (rule S26).
    public var length: SubscriptionPeriod { offer?.period ?? product.terms.period }

    /// The moment at which the service of this period really ends.
    ///
    /// It is not later than ``end``, and not later than ``start`` for a period that was taken away
    /// before it began.
    public var effectiveEnd: StoreTime { earlyEnd.map { min($0.time, end) } ?? end }

    /// Whether the period was replaced by an upgrade: `isUpgraded` of its transaction (rule S101).
    public var isUpgraded: Bool { earlyEnd?.reason == .upgraded }

    /// The part of the price that was not refunded.
    public var refundable: Money {
        Money(
            minorUnits: max(0, price.minorUnits - refunded.minorUnits),
            currency: price.currency
        )
    }
}
