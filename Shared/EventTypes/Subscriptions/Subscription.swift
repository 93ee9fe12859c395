/// One version of a subscription: all periods of one account in one group of one app.
///
/// Its state and its dates are facts. The next due action follows from them.
public struct Subscription: Codable, Hashable, Sendable {
    /// The id of the first transaction, which never changes (rule S1).
    public var id: TransactionID
    /// The number of changes that were published, from 1.
    ///
    /// The higher version wins (rule S7). A charge that begins or fails concerns nobody else and does
    /// not count.
    public var version: Int
    /// The account that pays.
    public var accountID: AccountID
    /// The app.
    public var bundleID: BundleID
    /// The storefront of the last purchase or renewal (rule S33).
    public var storefront: Storefront
    /// The state (rule S80).
    public var state: SubscriptionState
    /// The newest period that was not taken back.
    ///
    /// It may begin in the future (rule S81).
    public var period: PaidPeriod
    /// The period before the newest one; `nil` if there is none or it was not stored.
    @Boxed public var earlierPeriod: PaidPeriod? = nil
    /// The number of times that the count of periods began again, from 1 (rule S84).
    ///
    /// It also rises when a paid period is taken back, so that no charge gets an earlier one's key.
    public var epoch: Int
    /// The product that the next renewal changes to; `nil` for the same product (rule S104).
    @Boxed public var pendingProduct: SubscriptionProduct? = nil
    /// The offer that the next renewal begins (rule S52), or the one after the introductory offer (rule
    /// S55); `nil` if none was redeemed.
    @Boxed public var pendingOffer: PeriodOffer? = nil
    /// The higher price that the customer is asked about or informed of (rule S121); `nil` if there is
    /// none, and once it was charged.
    @Boxed public var priceIncrease: PriceIncrease? = nil
    /// The time from which on an increase without consent was last charged (rule S120).
    public var raisedAt: StoreTime?
    /// The reason why the subscription does not renew; `nil` while auto-renew is on (rules S93, S108).
    public var autoRenewOffReason: AutoRenewOffReason?
    /// The start of the first period: `originalPurchaseDate` (rule S4).
    public var startedAt: StoreTime
    /// The start of the latest period after a long gap, or of the first (rule S111).
    public var recentStart: StoreTime
    /// The number of tries to charge for the next period.
    public var attempts: Int
    /// The time of the last of these tries.
    public var lastTry: StoreTime?
    /// The try whose outcome is not known; there is at most one (rule S84).
    @Boxed public var charge: RenewalCharge? = nil
    /// The reason why the last of these tries failed.
    public var renewalProblem: RenewalProblem?
    /// The end of the grace period, in the state of that name (rule S80).
    public var gracePeriodEnd: StoreTime?
    /// The time at which the store gives up charging, in grace and billing retry (rule S522).
    public var billingRetryEnd: StoreTime?
    /// The reason of the end (rule S93).
    public var expirationIntent: ExpirationIntent?
    /// The extensions of its periods, oldest first; `nil` if there was none.
    public var extensions: [PeriodExtension]?
    /// The time that the account has paid for before the two newest periods (rule S59); `nil` if there
    /// were no others, or an older version of the store did not count it.
    public var paidTime: PaidTime?
    /// The time at which the account last began a win-back offer; `nil` if it never did.
    public var wonBackAt: StoreTime?

    /// Makes the first version of a subscription.
    public init(
        accountID: AccountID,
        bundleID: BundleID,
        storefront: Storefront,
        firstPeriod: PaidPeriod
    ) {
        id = firstPeriod.transactionID
        version = 1
        self.accountID = accountID
        self.bundleID = bundleID
        self.storefront = storefront
        state = .active
        period = firstPeriod
        epoch = 1
        startedAt = firstPeriod.start
        recentStart = firstPeriod.start
        attempts = 0
    }

    /// The group, in which the account has no other running subscription (rule S10).
    public var groupID: SubscriptionGroupID { product.terms.groupID }

    /// The product of the newest period.
    public var product: SubscriptionProduct { period.product }

    /// Whether the subscription renews at the end of its period.
    public var isAutoRenewOn: Bool { autoRenewOffReason == nil }

    /// The product that a renewal would pay for, at its price before an increase.
    ///
    /// A subscription that does not renew has one too.
    public var renewalProduct: SubscriptionProduct { pendingProduct ?? product }

    /// The product of the next period, with its ordinary price as the customer was informed (rule S32);
    /// `nil` if there is none.
    public var nextProduct: SubscriptionProduct? {
        guard state.isRunning, isAutoRenewOn else { return nil }
        var next = renewalProduct
        if let increase = nextIncrease, increase.status.isAccepted { next.price = increase.price }
        return next
    }

    /// The increase that the next renewal is subject to (rules S121 and S124); `nil` if there is none.
    ///
    /// A period with an offer has the price of the offer, so the increase waits.
    public var nextIncrease: PriceIncrease? {
        let next = renewalProduct
        guard let priceIncrease, priceIncrease.productID == next.id,
            priceIncrease.price.currency == next.price.currency,
            priceIncrease.effectiveAt <= period.end, !hasNextOffer
        else { return nil }
        return priceIncrease
    }

    /// The answer to an increase as renewal info and receipts number it: 0 without consent, 1 with it,
    /// or if none is needed.
    ///
    /// It is `nil` if the customer knows of no increase of the next product. Who did not agree keeps 0
    /// after the end.
    public var priceIncreaseStatus: Int? {
        guard expirationIntent != .didNotConsentToPriceIncrease else { return 0 }
        guard priceIncrease?.productID == renewalProduct.id else { return nil }
        return priceIncrease?.status.number
    }

    /// Whether the next period would have an offer, if there is one.
    private var hasNextOffer: Bool {
        renewalProduct.id == product.id && (pendingOffer ?? period.offer?.next) != nil
    }

    /// The offer of the next period; `nil` if that has the ordinary price (rule S43).
    ///
    /// Another product does not continue it. An offer that was redeemed replaces the rest of a running
    /// one (rule S52), unless it comes after the introductory one (rule S55).
    public var nextOffer: PeriodOffer? {
        guard nextProduct?.id == product.id else { return nil }
        if pendingOffer?.introductory == .comesFirst, period.offer?.type == .introductory,
            let next = period.offer?.next
        {
            return next
        }
        return pendingOffer ?? period.offer?.next
    }

    /// The price of the next period, as the customer was informed (rule S32); `nil` if there is none.
    public var nextPrice: Money? { nextOffer?.price ?? nextProduct?.price }

    /// The end of the service that the account is entitled to (rule S80); `nil` if it has none.
    public var entitlementEnd: StoreTime? {
        switch state {
        case .active: period.end
        case .inGracePeriod: gracePeriodEnd
        case .inBillingRetryPeriod, .expired, .revoked, .unknown: nil
        }
    }

    /// Whether the account has the service at a time (rule S80).
    ///
    /// The answer follows from the dates, so an event that comes late never prolongs the service.
    public func isEntitled(at time: StoreTime) -> Bool { entitlementEnd.map { time < $0 } ?? false }

    /// The period in force at a time: the newest one, or the one before it until that begins.
    public func runningPeriod(at time: StoreTime) -> PaidPeriod {
        guard time < period.start, let earlierPeriod, time < earlierPeriod.effectiveEnd else {
            return period
        }
        return earlierPeriod
    }
}

extension Subscription {
    /// The time that the account has paid for with all its periods (rule S59).
    ///
    /// If an older version of the store did not count it, all of the time since ``recentStart`` is taken
    /// as paid.
    public var totalPaidTime: PaidTime {
        earlierPaidTime + (earlierPeriod?.paidTime ?? PaidTime()) + period.paidTime
    }

    /// The ``paidTime`` of the subscription once a period after the newest one is paid.
    package var nextPaidTime: PaidTime? {
        guard earlierPeriod != nil || paidTime != nil else { return nil }
        return earlierPaidTime + (earlierPeriod?.paidTime ?? PaidTime())
    }

    /// The time that the account has paid for before the two newest periods.
    private var earlierPaidTime: PaidTime {
        if let paidTime { return paidTime }
        let start = (earlierPeriod ?? period).start
        let time = max(0, start.duration(since: recentStart).milliseconds)
        return PaidTime(days: Int(time / 86_400_000))
    }
}
