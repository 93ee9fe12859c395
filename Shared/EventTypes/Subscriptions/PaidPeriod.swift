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
    @Boxed public var offer: PeriodOffer?
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
    /// The end as it was counted, before it was extended; `nil` if it was not.
    public var extendedFrom: StoreTime?
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

extension PaidPeriod {
    /// The time that the account has paid for with the period.
    ///
    /// It is nothing if the period was free, or everything was given back. If something ended the period
    /// early, the time counts in proportion, in whole days.
    public var paidTime: PaidTime {
        guard !refundable.isZero else { return PaidTime() }
        let sold = PaidTime(length)
        let whole = end.duration(since: start).milliseconds
        let served = max(0, effectiveEnd.duration(since: start).milliseconds)
        guard served < whole else { return sold }
        return PaidTime(days: Int(Int64(sold.hundredthsOfDays) * served / whole / 100))
    }
}

// Subscriptions are encoded and decoded without Foundation's coders, with the same bytes.

extension PaidPeriod {
    /// Writes the members in alphabetical order.
    func write(to text: inout PlainJSONText) {
        text.member("anchor", anchor)
        if let charge { text.member("charge", object: charge.write) }
        if let earlyEnd { text.member("earlyEnd", object: earlyEnd.write) }
        text.member("end", end)
        text.member("extendedFrom", extendedFrom)
        text.member("number", Int64(number))
        if let offer { text.member("offer", object: offer.write) }
        text.member("price", object: price.write)
        text.member("product", object: product.write)
        text.member("reason", reason.rawValue)
        text.member("refunded", object: refunded.write)
        text.member("start", start)
        text.member("transactionID", transactionID.rawValue)
    }

    /// Reads the members; `nil` if one is missing, wrong, or not in plain form.
    init?(from json: inout PlainJSON) {
        var transactionID: TransactionID?
        var reason: String?
        var product: SubscriptionProduct?
        var (price, refunded) = (Money?.none, Money?.none)
        var offer: PeriodOffer?
        var (anchor, start, end) = (Int64?.none, Int64?.none, Int64?.none)
        var extendedFrom: Int64?
        var number: Int64?
        var charge: RenewalChargeKey?
        var earlyEnd: EarlyEnd?
        let isRead = json.object { json, name in
            switch name {
            case "transactionID": PlainJSON.keep(json.identifier(), in: &transactionID)
            case "reason": PlainJSON.keep(json.string(), in: &reason)
            case "product": PlainJSON.keep(SubscriptionProduct(from: &json), in: &product)
            case "price": PlainJSON.keep(Money(from: &json), in: &price)
            case "offer": json.null() || PlainJSON.keep(PeriodOffer(from: &json), in: &offer)
            case "anchor": PlainJSON.keep(json.integer(), in: &anchor)
            case "number": PlainJSON.keep(json.integer(), in: &number)
            case "start": PlainJSON.keep(json.integer(), in: &start)
            case "end": PlainJSON.keep(json.integer(), in: &end)
            case "extendedFrom":
                json.null() || PlainJSON.keep(json.integer(), in: &extendedFrom)
            case "charge":
                json.null() || PlainJSON.keep(RenewalChargeKey(from: &json), in: &charge)
            case "refunded": PlainJSON.keep(Money(from: &json), in: &refunded)
            case "earlyEnd": json.null() || PlainJSON.keep(EarlyEnd(from: &json), in: &earlyEnd)
            default: json.skip()
            }
        }
        guard isRead, let transactionID, let reason, let product, let price, let anchor, let number,
            let start, let end, let refunded
        else { return nil }
        self.init(
            transactionID: transactionID,
            reason: PeriodReason(rawValue: reason),
            product: product,
            price: price,
            offer: offer,
            anchor: StoreTime(millisecondsSinceEpoch: anchor),
            number: Int(number),
            start: StoreTime(millisecondsSinceEpoch: start),
            end: StoreTime(millisecondsSinceEpoch: end),
            charge: charge,
            refunded: refunded,
            earlyEnd: earlyEnd
        )
        self.extendedFrom = extendedFrom.map(StoreTime.init(millisecondsSinceEpoch:))
    }
}

extension EarlyEnd {
    fileprivate func write(to text: inout PlainJSONText) {
        text.member("reason", reason.rawValue)
        text.member("time", time)
    }

    fileprivate init?(from json: inout PlainJSON) {
        var time: Int64?
        var reason: String?
        let isRead = json.object { json, name in
            switch name {
            case "time": PlainJSON.keep(json.integer(), in: &time)
            case "reason": PlainJSON.keep(json.string(), in: &reason)
            default: json.skip()
            }
        }
        guard isRead, let time, let reason else { return nil }
        self.init(
            time: StoreTime(millisecondsSinceEpoch: time),
            reason: Reason(rawValue: reason)
        )
    }
}
