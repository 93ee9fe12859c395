import EventTypes
import Subscriptions
import Testing

/// Promotional offers for the running product (rules S52 and S53, row e26).
@Suite struct PromotionalOfferTests {
    private static func offer(
        _ id: String = "come_back",
        _ mode: OfferMode = .payAsYouGo,
        _ period: SubscriptionPeriod = silver.terms.period,
        _ numberOfPeriods: Int = 2,
        price: Int64 = 499
    ) -> PeriodOffer {
        PeriodOffer(
            type: .promotional,
            id: OfferID(unchecked: id),
            mode: mode,
            period: period,
            numberOfPeriods: numberOfPeriods,
            price: usd(price)
        )
    }

    private func begun() -> StoryTeller {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        story.apply(.offerRedeemed(Self.offer()), at("2026-01-10"))
        return story
    }

    @Test func itBeginsWithTheNextRenewal() throws {
        var story = begun()
        #expect(story.subscription?.period.price == usd(999))
        #expect(story.subscription?.nextPrice == usd(499))
        var prices: [Money] = []
        for _ in 1...3 {
            try story.carryOut()
            prices.append(try #require(story.subscription?.period.price))
        }
        #expect(prices == [usd(499), usd(499), usd(999)])
        #expect(story.subscription?.pendingOffer == nil)
        #expect(story.notifications.dropFirst().first == "OFFER_REDEEMED")
        #expect(try story.findings() == [])
    }

    /// Row e27.
    @Test func anUpgradeByAnOfferIsNotifiedAsThat() throws {
        for type in [OfferType.promotional, .code] {
            var offer = Self.offer()
            offer.type = type
            var story = StoryTeller()
            story.buy(silver, at("2026-01-01"))
            story.buy(gold, by: offer, at("2026-01-10"))
            #expect(story.notifications.last == "OFFER_REDEEMED/UPGRADE")
        }
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        story.buy(gold, at("2026-01-10"))
        #expect(story.notifications.last == "DID_CHANGE_RENEWAL_PREF/UPGRADE")
    }

    /// Nobody has redeemed the offer of a renewal: the audit says so.
    @Test func anOfferThatNobodyRedeemedIsFound() throws {
        var story = begun()
        story.subscription?.pendingOffer = Self.offer("another")
        try story.carryOut()
        let found = try story.findings().map(\.invariant)
        #expect(found.contains(.offersAreUsedOnce), "\(found)")
    }

    @Test func aNewOfferReplacesTheRestOfTheOldOne() throws {
        var story = begun()
        try story.carryOut()
        #expect(story.subscription?.nextOffer?.number == 2)
        let week = SubscriptionPeriod(1, .week)
        let free = Self.offer("a_week", .freeTrial, week, 1, price: 0)
        story.apply(.offerRedeemed(free), at("2026-02-10"))
        #expect(story.subscription?.nextPrice == usd(0))
        try story.carryOut()
        #expect(story.subscription?.period.offer?.id?.rawValue == "a_week")
        try story.carryOut()
        #expect(story.subscription?.period.price == usd(999))
        #expect(try story.findings() == [])
    }

    @Test(arguments: [
        SubscriptionEvent.autoRenewTurnedOff, .productScheduled(bronze),
        .ended(.unknown),
    ])
    func whatEndsTheNextPeriodLosesTheOffer(event: SubscriptionEvent) throws {
        var story = begun()
        story.apply(event, at("2026-01-11"))
        #expect(story.subscription?.pendingOffer == nil)
        #expect(try story.findings() == [])
    }

    @Test func anUpgradeLosesTheOffer() throws {
        var story = begun()
        story.buy(gold, at("2026-01-11"))
        #expect(story.subscription?.pendingOffer == nil)
        #expect(story.subscription?.nextPrice == usd(1999))
        #expect(try story.findings() == [])
    }

    @Test func itTurnsAutoRenewOnAndWithdrawsAnotherProduct() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        story.apply(.productScheduled(bronze), at("2026-01-02"))
        story.apply(.offerRedeemed(Self.offer()), at("2026-01-03"))
        #expect(story.subscription?.pendingProduct == nil)
        story.apply(.autoRenewTurnedOff, at("2026-01-04"))
        story.apply(.offerRedeemed(Self.offer()), at("2026-01-05"))
        #expect(story.subscription?.isAutoRenewOn == true)
        #expect(story.subscription?.nextPrice == usd(499))
        #expect(try story.findings() == [])
    }

    /// The charge for the next period is sent at the ordinary price before the offer is redeemed.
    @Test func aChargeThatIsUnderWayIsNotAtTheOffersPrice() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        let action = try #require(story.next)
        let quote = RenewalQuote(storefront: usa, price: usd(999))
        let plan = try #require(story.apply(.due(action.kind, quote), action.time).plan)
        story.apply(.offerRedeemed(Self.offer()), action.time)
        story.answer(try #require(plan.charge), true, action.time)
        #expect(story.subscription?.period.price == usd(999))
        #expect(story.subscription?.nextPrice == usd(499))
        try story.carryOut()
        #expect(story.subscription?.period.price == usd(499))
        #expect(try story.findings() == [])
    }

    /// A lower product is scheduled, and the charge for it is sent before the offer is redeemed.
    @Test func anotherProductDoesNotHaveTheOffer() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        story.apply(.productScheduled(bronze), at("2026-01-02"))
        let action = try #require(story.next)
        let quote = RenewalQuote(storefront: usa, price: usd(499))
        let plan = try #require(story.apply(.due(action.kind, quote), action.time).plan)
        story.apply(.offerRedeemed(Self.offer(price: 99)), action.time)
        story.answer(try #require(plan.charge), true, action.time)
        #expect(story.subscription?.product.id == bronze.id)
        #expect(story.subscription?.pendingOffer == nil)
        #expect(story.subscription?.nextPrice == usd(499))
        #expect(try story.findings() == [])
    }

    /// The charge at the first offer's price is sent before the second offer is redeemed.
    @Test func anOfferThatIsRedeemedDuringAnothersChargeIsKept() throws {
        var story = begun()
        let action = try #require(story.next)
        let quote = RenewalQuote(storefront: usa, price: usd(999))
        let plan = try #require(story.apply(.due(action.kind, quote), action.time).plan)
        story.apply(.offerRedeemed(Self.offer("another", price: 299)), action.time)
        story.answer(try #require(plan.charge), true, action.time)
        #expect(story.subscription?.period.price == usd(499))
        #expect(story.subscription?.pendingOffer?.id?.rawValue == "another")
        try story.carryOut()
        #expect(story.subscription?.period.price == usd(299))
        #expect(try story.findings() == [])
    }

    private func paidUpFront() -> StoryTeller {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        let quarter = SubscriptionPeriod(3, .month)
        let offer = Self.offer("a_quarter", .payUpFront, quarter, 1, price: 1999)
        story.apply(.offerRedeemed(offer), at("2026-01-10"))
        return story
    }

    /// Three months cost more than one ordinary month.
    @Test func anOfferThatIsPaidUpFrontIsChargedInFull() throws {
        var story = paidUpFront()
        #expect(story.subscription?.nextPrice == usd(1999))
        try story.carryOut()
        #expect(story.subscription?.period.price == usd(1999))
        #expect(story.subscription?.period.end == at("2026-05-01"))
        try story.carryOut()
        #expect(story.subscription?.period.price == usd(999))
        #expect(try story.findings() == [])
    }

    @Test func anOfferThatIsPaidUpFrontAtALowerPriceIsFound() throws {
        var story = paidUpFront()
        story.subscription?.pendingOffer?.price = usd(999)
        try story.carryOut()
        let found = try story.findings().map(\.invariant)
        #expect(found.contains(.offersAreUsedOnce), "\(found)")
    }

    @Test func anUnpaidOrEndedSubscriptionKeepsNoOffer() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        try story.run(until: at("2026-02-01"), charging: false)
        #expect(story.subscription?.state == .inBillingRetryPeriod)
        let move = story.apply(.offerRedeemed(Self.offer()), at("2026-02-02"))
        #expect(move.refusal == .ended)
    }

    @Test func anotherCurrencyLosesTheOffer() throws {
        var story = begun()
        let action = try #require(story.next)
        let euros = Money(minorUnits: 899, currency: Currency(unchecked: "EUR"))
        let quote = RenewalQuote(storefront: Storefront(unchecked: "FRA"), price: euros)
        let plan = try #require(story.apply(.due(action.kind, quote), action.time).plan)
        story.answer(try #require(plan.charge), true, action.time)
        #expect(story.subscription?.period.price == euros)
        #expect(story.subscription?.pendingOffer == nil)
    }
}
