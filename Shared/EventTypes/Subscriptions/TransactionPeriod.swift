/// The period of a subscription that a transaction pays for (rule S2 of docs/subscriptions.md).
public struct TransactionPeriod: Codable, Hashable, Sendable {
    /// The group, the level and the length of the period, as accepted.
    public var terms: SubscriptionTerms
    /// The first moment of the period; `nil` until it is paid.
    ///
    /// A period that is renewed early begins in the future (rule S81).
    public var start: StoreTime?
    /// The moment at which the period is over; `nil` until it is paid.
    public var end: StoreTime?
    /// The transaction that paid the period, in a restored copy of it; `nil` in that transaction.
    public var paidBy: TransactionID?
    /// The product that a purchase replaces at once (rule S101); `nil` if none was running.
    public var replaces: ProductID?
    /// The identity of the charge for a renewal (rule S84); `nil` for a purchase.
    public var charge: RenewalChargeKey?
    /// The offer at which the period is charged; `nil` for the ordinary price.
    @Boxed public var offer: PeriodOffer?
    /// The ordinary price, at which the subscription renews after the offer; `nil` without an offer.
    public var renewalPrice: Money?
    /// The offer that begins later; `nil` in most periods.
    ///
    /// In the copy of a running period by which an account redeemed an offer, it begins with the next
    /// period (rule S53). In a purchase by the code of a stackable offer, it begins after the
    /// introductory offer (rule S55).
    @Boxed public var redeems: PeriodOffer?
    /// The standing of a period that a family shares; `nil` in every other transaction.
    @Boxed public var shared: Shared?

    /// Makes a period.
    public init(
        terms: SubscriptionTerms,
        start: StoreTime? = nil,
        end: StoreTime? = nil,
        paidBy: TransactionID? = nil,
        replaces: ProductID? = nil,
        charge: RenewalChargeKey? = nil,
        offer: PeriodOffer? = nil,
        renewalPrice: Money? = nil,
        redeems: PeriodOffer? = nil,
        shared: Shared? = nil
    ) {
        self.terms = terms
        self.start = start
        self.end = end
        self.paidBy = paidBy
        self.replaces = replaces
        self.charge = charge
        self.offer = offer
        self.renewalPrice = renewalPrice
        self.redeems = redeems
        self.shared = shared
    }

    /// The end of the service that the period gives; `nil` until it is paid.
    ///
    /// It is later than ``end`` if a family shares the period and the buyer is in a grace period.
    public var serviceEnd: StoreTime? { shared?.gracePeriodEnd ?? end }

    /// Whether the transaction is the one by which an account has its introductory offer in the group, or
    /// has used it up (rule S55).
    ///
    /// Later periods of the offer, and copies of the first, are not. Nor is an offer that the merchant's
    /// server gives once more (rule S48).
    public var beginsIntroductoryOffer: Bool {
        guard let begun = begunOffer else { return false }
        switch begun.introductory {
        case .usedUp: return true
        case .again: return false
        case .comesFirst, .unknown, nil: return begun.type == .introductory
        }
    }

    /// The offer for which a code was redeemed by the transaction; `nil` if none was.
    public var offerOfCode: PeriodOffer? {
        guard let begun = redeems ?? begunOffer, begun.type == .code else { return nil }
        return begun
    }

    /// The offer that begins with the period, if the buyer made the transaction for it.
    private var begunOffer: PeriodOffer? {
        guard let offer, offer.number == 1, charge == nil, paidBy == nil else { return nil }
        return offer
    }

    /// Whether the transaction is a copy of the running period, by which an account redeemed an offer.
    public var isRedemption: Bool { redeems != nil && paidBy != nil }

    /// The standing of a period that a family shares, which follows the subscription of the buyer
    /// (rows e43 to e45 of docs/subscriptions.md).
    public struct Shared: Codable, Hashable, Sendable {
        /// The change of the buyer's subscription that began the period, as it is for the member: its
        /// first share is a purchase.
        public var began: SubscriptionCause
        /// The newest change that the share has followed; `nil` if it is as it began, or the change is
        /// nothing to tell.
        public var followed: SubscriptionCause?
        /// The end of the service while the buyer is in a grace period; `nil` at all other times.
        public var gracePeriodEnd: StoreTime?
        /// The state of the buyer's subscription, as long as this period is its newest one.
        public var state: SubscriptionState

        /// Makes a standing.
        public init(
            began: SubscriptionCause,
            followed: SubscriptionCause? = nil,
            gracePeriodEnd: StoreTime? = nil,
            state: SubscriptionState
        ) {
            self.began = began
            self.followed = followed
            self.gracePeriodEnd = gracePeriodEnd
            self.state = state
        }
    }
}

// Transaction events are encoded and decoded without Foundation's coders, with the same bytes.

extension TransactionPeriod: PlainJSONCodable {
    package func write(to text: inout PlainJSONText) {
        if let charge { text.member("charge", object: charge.write) }
        text.member("end", end)
        if let offer { text.member("offer", object: offer.write) }
        text.member("paidBy", paidBy?.rawValue)
        if let redeems { text.member("redeems", object: redeems.write) }
        if let renewalPrice { text.member("renewalPrice", object: renewalPrice.write) }
        text.member("replaces", replaces?.rawValue)
        if let shared { text.member("shared", object: shared.write) }
        text.member("start", start)
        text.member("terms", object: terms.write)
    }

    package init?(from json: inout PlainJSON) {
        var terms: SubscriptionTerms?
        var (start, end) = (Int64?.none, Int64?.none)
        var paidBy: TransactionID?
        var replaces: ProductID?
        var charge: RenewalChargeKey?
        var offer: PeriodOffer?
        var renewalPrice: Money?
        var redeems: PeriodOffer?
        var shared: Shared?
        let isRead = json.object { json, name in
            switch name {
            case "terms": PlainJSON.keep(SubscriptionTerms(from: &json), in: &terms)
            case "start": json.null() || PlainJSON.keep(json.integer(), in: &start)
            case "end": json.null() || PlainJSON.keep(json.integer(), in: &end)
            case "paidBy": json.null() || PlainJSON.keep(json.identifier(), in: &paidBy)
            case "replaces": json.null() || PlainJSON.keep(json.identifier(), in: &replaces)
            case "charge":
                json.null() || PlainJSON.keep(RenewalChargeKey(from: &json), in: &charge)
            case "offer": json.null() || PlainJSON.keep(PeriodOffer(from: &json), in: &offer)
            case "redeems":
                json.null() || PlainJSON.keep(PeriodOffer(from: &json), in: &redeems)
            case "renewalPrice":
                json.null() || PlainJSON.keep(Money(from: &json), in: &renewalPrice)
            case "shared": json.null() || PlainJSON.keep(Shared(from: &json), in: &shared)
            default: json.skip()
            }
        }
        guard isRead, let terms else { return nil }
        self.init(
            terms: terms,
            start: start.map(StoreTime.init(millisecondsSinceEpoch:)),
            end: end.map(StoreTime.init(millisecondsSinceEpoch:)),
            paidBy: paidBy,
            replaces: replaces,
            charge: charge,
            offer: offer,
            renewalPrice: renewalPrice,
            redeems: redeems,
            shared: shared
        )
    }
}

extension TransactionPeriod.Shared {
    fileprivate func write(to text: inout PlainJSONText) {
        text.member("began", began.rawValue)
        text.member("followed", followed?.rawValue)
        text.member("gracePeriodEnd", gracePeriodEnd)
        text.member("state", state.rawValue)
    }

    fileprivate init?(from json: inout PlainJSON) {
        var (began, followed, state) = (String?.none, String?.none, String?.none)
        var gracePeriodEnd: Int64?
        let isRead = json.object { json, name in
            switch name {
            case "began": PlainJSON.keep(json.string(), in: &began)
            case "followed": json.null() || PlainJSON.keep(json.string(), in: &followed)
            case "gracePeriodEnd":
                json.null() || PlainJSON.keep(json.integer(), in: &gracePeriodEnd)
            case "state": PlainJSON.keep(json.string(), in: &state)
            default: json.skip()
            }
        }
        guard isRead, let began, let state else { return nil }
        self.init(
            began: SubscriptionCause(rawValue: began),
            followed: followed.map(SubscriptionCause.init(rawValue:)),
            gracePeriodEnd: gracePeriodEnd.map(StoreTime.init(millisecondsSinceEpoch:)),
            state: SubscriptionState(rawValue: state)
        )
    }
}

extension SubscriptionTerms {
    func write(to text: inout PlainJSONText) {
        text.member("groupID", groupID.rawValue)
        text.member("level", Int64(level))
        text.member("period", period.description)
    }

    init?(from json: inout PlainJSON) {
        var groupID: SubscriptionGroupID?
        var level: Int64?
        var period: String?
        let isRead = json.object { json, name in
            switch name {
            case "groupID": PlainJSON.keep(json.identifier(), in: &groupID)
            case "level": PlainJSON.keep(json.integer(), in: &level)
            case "period": PlainJSON.keep(json.string(), in: &period)
            default: json.skip()
            }
        }
        guard isRead, let groupID, let level,
            let period = period.flatMap(SubscriptionPeriod.init(iso8601:))
        else { return nil }
        self.init(groupID: groupID, level: Int(level), period: period)
    }
}

extension RenewalChargeKey {
    func write(to text: inout PlainJSONText) {
        text.member("attempt", Int64(attempt))
        text.member("epoch", Int64(epoch))
        text.member("period", Int64(period))
        text.member("subscriptionID", subscriptionID.rawValue)
    }

    init?(from json: inout PlainJSON) {
        var subscriptionID: TransactionID?
        var (period, epoch, attempt) = (Int64?.none, Int64?.none, Int64?.none)
        let isRead = json.object { json, name in
            switch name {
            case "subscriptionID": PlainJSON.keep(json.identifier(), in: &subscriptionID)
            case "period": PlainJSON.keep(json.integer(), in: &period)
            case "epoch": PlainJSON.keep(json.integer(), in: &epoch)
            case "attempt": PlainJSON.keep(json.integer(), in: &attempt)
            default: json.skip()
            }
        }
        guard isRead, let subscriptionID, let period, let epoch, let attempt else { return nil }
        self.init(
            subscriptionID: subscriptionID,
            period: Int(period),
            epoch: Int(epoch),
            attempt: Int(attempt)
        )
    }
}
