import EventTypes
import Subscriptions
import Testing

/// The periods of an introductory offer, and those after it (rules S25, S26 and S40 to S43).
@Suite struct IntroductoryOfferTests {
    private static let week = SubscriptionPeriod(1, .week)
    private static let quarter = SubscriptionPeriod(3, .month)
    private static let threeMonths = introductory(.payAsYouGo, silver.terms.period, 3, price: 499)

    private func period(_ story: StoryTeller) -> String {
        guard let period = story.subscription?.period else { return "none" }
        let offer = period.offer.map { ", \($0.mode) \($0.number) of \($0.numberOfPeriods)" }
        return "\(period.start.description.prefix(10)) to \(period.end.description.prefix(10)), "
            + "\(period.price)\(offer ?? "")"
    }

    /// The life of a specification that buyers know: a week is free, then months are paid.
    @Test func aTrialIsFreeAndThenThePriceIsTheOrdinaryOne() throws {
        var story = StoryTeller()
        story.buy(
            silver,
            by: introductory(.freeTrial, Self.week, price: 0),
            at("2026-01-24T10:00:00")
        )
        #expect(period(story) == "2026-01-24 to 2026-01-31, 0.00 USD, freeTrial 1 of 1")
        #expect(story.subscription?.nextPrice == usd(999))
        #expect(story.subscription?.nextOffer == nil)
        #expect(story.subscription?.product.price == usd(999))
        #expect(try story.carryOut() == at("2026-01-30T10:00:00"))
        #expect(period(story) == "2026-01-31 to 2026-02-28, 9.99 USD")
        #expect(story.subscription?.period.anchor == at("2026-01-31T10:00:00"))
        try story.carryOut()
        #expect(period(story) == "2026-02-28 to 2026-03-31, 9.99 USD")
        #expect(story.notifications == ["SUBSCRIBED/INITIAL_BUY", "DID_RENEW", "DID_RENEW"])
        #expect(try story.findings() == [])
    }

    @Test func payAsYouGoCountsItsPeriods() throws {
        var story = StoryTeller()
        story.buy(silver, by: Self.threeMonths, at("2026-01-31"))
        #expect(period(story) == "2026-01-31 to 2026-02-28, 4.99 USD, payAsYouGo 1 of 3")
        #expect(story.subscription?.nextPrice == usd(499))
        try story.carryOut()
        #expect(period(story) == "2026-02-28 to 2026-03-31, 4.99 USD, payAsYouGo 2 of 3")
        try story.carryOut()
        #expect(period(story) == "2026-03-31 to 2026-04-30, 4.99 USD, payAsYouGo 3 of 3")
        #expect(story.subscription?.nextPrice == usd(999))
        try story.carryOut()
        // The ordinary periods are as long, so the anchor stays (rule S25).
        #expect(period(story) == "2026-04-30 to 2026-05-31, 9.99 USD")
        #expect(story.subscription?.epoch == 1)
        #expect(try story.findings() == [])
    }

    @Test func payUpFrontIsOnePeriodOfTheWholeLength() throws {
        var story = StoryTeller()
        story.buy(
            silver,
            by: introductory(.payUpFront, Self.quarter, price: 1999),
            at("2026-01-31")
        )
        #expect(period(story) == "2026-01-31 to 2026-04-30, 19.99 USD, payUpFront 1 of 1")
        #expect(try story.carryOut() == at("2026-04-29"))
        // Another length begins at a new anchor (rule S26).
        #expect(period(story) == "2026-04-30 to 2026-05-30, 9.99 USD")
        #expect(try story.findings() == [])
    }

    @Test func anUpgradeLosesTheRestOfTheOffer() throws {
        var story = StoryTeller()
        story.buy(silver, by: Self.threeMonths, at("2026-01-01"))
        let upgrade = story.buy(gold, at("2026-01-16T12:00:00"))
        #expect(upgrade.plan?.refunds.map(\.amount) == [usd(249)])
        #expect(story.subscription?.nextPrice == usd(1999))
        try story.carryOut()
        #expect(period(story) == "2026-02-16 to 2026-03-16, 19.99 USD")
        #expect(try story.findings() == [])
    }

    @Test func anUpgradeFromATrialRefundsNothing() throws {
        var story = StoryTeller()
        story.buy(silver, by: introductory(.freeTrial, Self.week, price: 0), at("2026-01-01"))
        let upgrade = story.buy(gold, at("2026-01-02"))
        #expect(upgrade.plan?.refunds == [])
        #expect(try story.findings() == [])
    }

    @Test func aScheduledProductHasNoOfferUntilItIsWithdrawn() throws {
        var story = StoryTeller()
        story.buy(silver, by: Self.threeMonths, at("2026-01-01"))
        story.apply(.productScheduled(bronze), at("2026-01-02"))
        #expect(story.subscription?.nextPrice == usd(499) && story.subscription?.nextOffer == nil)
        story.apply(.scheduleWithdrawn, at("2026-01-03"))
        #expect(story.subscription?.nextOffer?.number == 2)
        story.apply(.productScheduled(bronze), at("2026-01-04"))
        try story.carryOut()
        #expect(period(story) == "2026-02-01 to 2026-03-01, 4.99 USD")
        #expect(story.subscription?.product == bronze)
        #expect(try story.findings() == [])
    }

    @Test func aTrialThatIsCancelledEndsWithoutACharge() throws {
        var story = StoryTeller()
        story.buy(silver, by: introductory(.freeTrial, Self.week, price: 0), at("2026-01-01"))
        story.apply(.autoRenewTurnedOff, at("2026-01-02"))
        #expect(story.subscription?.nextPrice == nil)
        #expect(try story.carryOut() == at("2026-01-08"))
        #expect(story.subscription?.state == .expired)
        story.buy(silver, at("2026-01-09"))
        #expect(period(story) == "2026-01-09 to 2026-02-09, 9.99 USD")
        #expect(try story.findings() == [])
    }

    /// Rule S48.
    @Test(arguments: [(IntroductoryUse.again as IntroductoryUse?, true), (nil, false)])
    func onlyTheMerchantsServerGivesAnOfferOnceMore(use: IntroductoryUse?, isRight: Bool) throws {
        var story = StoryTeller()
        var offer = introductory(.freeTrial, Self.week, price: 0)
        story.buy(silver, by: offer, at("2026-01-01"))
        story.apply(.autoRenewTurnedOff, at("2026-01-02"))
        try story.carryOut()
        offer.introductory = use
        story.buy(silver, by: offer, at("2026-01-09"))
        #expect(period(story) == "2026-01-09 to 2026-01-16, 0.00 USD, freeTrial 1 of 1")
        let expected: [SubscriptionInvariant] = isRight ? [] : [.offersAreUsedOnce]
        #expect(try story.findings().map(\.invariant) == expected)
        try story.carryOut()
        #expect(period(story) == "2026-01-16 to 2026-02-16, 9.99 USD")
    }

    @Test func aPeriodThatIsRecoveredCountsToo() throws {
        var story = StoryTeller()
        story.buy(silver, by: Self.threeMonths, at("2026-01-01"))
        try story.run(until: at("2026-02-01"), charging: false)
        #expect(story.subscription?.state == .inBillingRetryPeriod)
        #expect(story.subscription?.nextPrice == usd(499))
        try story.carryOut()
        #expect(period(story) == "2026-02-02 to 2026-03-02, 4.99 USD, payAsYouGo 2 of 3")
        #expect(try story.findings() == [])
    }

    /// Trap 21.
    @Test func aTrialHasNoGraceWhereOnlyPaidPeriodsHave() throws {
        var paid = policy(grace: .days(16))
        paid.graceScope = .paidToPaidOnly
        var story = StoryTeller(paid)
        story.buy(silver, by: introductory(.freeTrial, Self.week, price: 0), at("2026-01-01"))
        try story.run(until: at("2026-01-08"), charging: false)
        #expect(story.subscription?.state == .inBillingRetryPeriod)
    }

    @Test func aLowerOrdinaryPriceCountsInTheOfferToo() throws {
        var story = StoryTeller()
        story.buy(silver, by: Self.threeMonths, at("2026-01-01"))
        try story.carryOut(quote: 399)
        #expect(period(story) == "2026-02-01 to 2026-03-01, 3.99 USD, payAsYouGo 2 of 3")
        #expect(story.subscription?.product.price == usd(399))
        try story.carryOut()
        try story.carryOut()
        #expect(period(story) == "2026-04-01 to 2026-05-01, 3.99 USD")
        #expect(try story.findings() == [])
    }

    @Test func aStorefrontWithAnotherCurrencyEndsTheOffer() throws {
        var story = StoryTeller()
        story.buy(silver, by: Self.threeMonths, at("2026-01-01"))
        let action = try #require(story.next)
        let euros = Money(minorUnits: 899, currency: Currency(unchecked: "EUR"))
        let quote = RenewalQuote(storefront: Storefront(unchecked: "FRA"), price: euros)
        let plan = try #require(story.apply(.due(action.kind, quote), action.time).plan)
        #expect(plan.charge?.price == euros && plan.charge?.offer == nil)
    }

    @Test func aPeriodThatWasTakenBackIsCountedOnce() throws {
        var story = StoryTeller()
        story.buy(silver, by: Self.threeMonths, at("2026-01-01"))
        let time = try story.carryOut()
        #expect(story.subscription?.nextOffer?.number == 3)
        let next = try #require(story.subscription?.period.transactionID)
        story.apply(.refunded(next, usd(499), revokes: true), time)
        #expect(story.subscription?.period.offer?.number == 1)
    }

    @Test func aTrialOfAFastSandboxIsChargedBeforeItsEnd() throws {
        var fast = policy()
        fast.rate = .monthlyRenewalEveryFiveMinutes
        var story = StoryTeller(fast)
        let trial = introductory(.freeTrial, SubscriptionPeriod(3, .day), price: 0)
        story.buy(silverYear, by: trial, at("2026-01-01"))
        let end = try #require(story.subscription?.period.end)
        #expect(end.duration(since: at("2026-01-01")).milliseconds == 180_000 * 3 / 7)
        // A third of the trial, as a day is of three.
        let lead = end.duration(since: try #require(story.next).time).milliseconds
        #expect(abs(lead - 25_714) <= 1)
    }

    @Test func aRenewalThatATestForcesGoesOnWithTheOffer() throws {
        var story = StoryTeller()
        story.buy(silver, by: Self.threeMonths, at("2026-01-01"))
        let quote = RenewalQuote(storefront: usa, price: usd(999))
        let plan = try #require(story.apply(.renewalForced(quote), at("2026-01-05")).plan)
        story.answer(try #require(plan.charge), true, at("2026-01-05"))
        #expect(period(story) == "2026-01-05 to 2026-02-05, 4.99 USD, payAsYouGo 2 of 3")
    }
}
