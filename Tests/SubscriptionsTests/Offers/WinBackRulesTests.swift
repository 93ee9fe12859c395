import EventTypes
import Subscriptions
import Testing

/// Who may have a win-back offer, and which is the best (rules S59 and S60).
@Suite struct WinBackRulesTests {
    /// A subscription of four months of silver, of which one was free, that ended on 2026-05-01.
    private static func ended(_ state: SubscriptionState = .expired) throws -> Subscription {
        var story = StoryTeller()
        let trial = PeriodOffer(
            type: .introductory,
            mode: .freeTrial,
            period: silver.terms.period,
            price: usd(0)
        )
        story.buy(silver, by: trial, at("2026-01-01"))
        for _ in 1...3 { try story.carryOut() }
        story.apply(.autoRenewTurnedOff, at("2026-04-15"))
        try story.carryOut()
        var subscription = try #require(story.subscription)
        #expect(subscription.state == .expired && subscription.period.end == at("2026-05-01"))
        subscription.state = state
        return subscription
    }

    private static func offer(
        _ id: String = "back",
        price: Int64 = 499,
        _ change: (inout WinBackOffer) -> Void = { _ in }
    ) -> WinBackOffer {
        let terms = OfferTerms(
            mode: .payAsYouGo,
            period: silver.terms.period,
            numberOfPeriods: 2,
            prices: [usa: usd(price)]
        )
        var offer = WinBackOffer(id: OfferID(unchecked: id), terms: terms)
        change(&offer)
        return offer
    }

    private static func ids(
        _ offers: [WinBackOffer],
        _ subscription: Subscription,
        _ time: StoreTime = at("2026-05-02")
    ) -> [String] {
        let product = Product(
            id: silver.id,
            version: 1,
            type: .autoRenewableSubscription,
            isOnSale: true,
            isRestorable: true,
            prices: [usa: silver.price],
            localizations: [:],
            deliveryPlan: [.entitlement],
            subscription: silver.terms,
            winBackOffers: offers
        )
        return WinBackRules.offers(of: product, to: subscription, in: usa, at: time)
            .compactMap(\.id?.rawValue)
    }

    @Test func whoseSubscriptionHasEndedMayHaveIt() throws {
        #expect(Self.ids([Self.offer()], try Self.ended()) == ["back"])
        for state in [
            SubscriptionState.active, .inGracePeriod, .inBillingRetryPeriod, .revoked,
            .unknown("paused"),
        ] { #expect(Self.ids([Self.offer()], try Self.ended(state)).isEmpty) }
    }

    /// Three months were paid for; the free one does not count.
    @Test func onlyPaidMonthsCount() throws {
        let subscription = try Self.ended()
        #expect(subscription.totalPaidTime == PaidTime(months: 3))
        #expect(Self.ids([Self.offer { $0.paidMonths = 3 }], subscription) == ["back"])
        #expect(Self.ids([Self.offer { $0.paidMonths = 4 }], subscription).isEmpty)
    }

    /// As an older version of the store wrote a subscription.
    @Test func withoutACountTheTimeSinceTheStartIsPaid() throws {
        var subscription = try Self.ended()
        subscription.paidTime = nil
        // The days of January and February, and the two newest periods.
        #expect(subscription.totalPaidTime == PaidTime(months: 2, days: 59))
    }

    @Test(arguments: [
        ("2026-06-30", false), ("2026-07-02", true), ("2026-07-31", true), ("2026-08-01", false),
    ])
    func theMonthsSinceTheEndHaveTwoEdges(date: String, isHad: Bool) throws {
        // Two months are 60.88 days, and three are 91.32.
        let offer = Self.offer { ($0.monthsSinceEnd, $0.monthsSinceEndMax) = (2, 2) }
        let ids = Self.ids([offer], try Self.ended(), at(date))
        #expect(ids.isEmpty != isHad)
    }

    @Test func theNextOneWaits() throws {
        var subscription = try Self.ended()
        let offer = Self.offer { $0.waitMonths = 2 }
        #expect(Self.ids([offer], subscription) == ["back"])
        subscription.wonBackAt = at("2026-03-03")
        #expect(Self.ids([offer], subscription, at("2026-05-02")).isEmpty)
        #expect(Self.ids([offer], subscription, at("2026-05-03")) == ["back"])
        #expect(Self.ids([Self.offer()], subscription, at("2026-05-02")) == ["back"])
    }

    @Test func anOfferHasItsTimeAndItsStorefront() throws {
        let subscription = try Self.ended()
        #expect(Self.ids([Self.offer { $0.isActive = false }], subscription).isEmpty)
        let dated = Self.offer { ($0.startsAt, $0.endsAt) = (at("2026-05-02"), at("2026-05-06")) }
        #expect(Self.ids([dated], subscription, at("2026-05-01")).isEmpty)
        #expect(Self.ids([dated], subscription, at("2026-05-02")) == ["back"])
        #expect(Self.ids([dated], subscription, at("2026-05-06")).isEmpty)
        #expect(Self.ids([Self.offer { $0.terms.prices = [:] }], subscription).isEmpty)
    }

    @Test func theBestComesFirst() throws {
        let offers = [
            Self.offer("b", price: 899), Self.offer("a", price: 899),
            Self.offer("cheap", price: 99),
            Self.offer("dear", price: 998) { $0.priority = .high },
            // A free year saves more than two months do.
            Self.offer("year", price: 0) {
                $0.terms.mode = .freeTrial
                $0.terms.period = SubscriptionPeriod(1, .year)
                $0.terms.numberOfPeriods = 1
            },
        ]
        #expect(Self.ids(offers, try Self.ended()) == ["dear", "year", "cheap", "a", "b"])
    }

    /// An account that had silver for one month, which has ended.
    private static func januaryOnly() throws -> StoryTeller {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        story.apply(.autoRenewTurnedOff, at("2026-01-15"))
        try story.carryOut()
        return story
    }

    /// The first period of a win-back offer of months for 4.99 USD.
    private static func period(of mode: OfferMode, times count: Int = 1) -> PeriodOffer {
        PeriodOffer(
            type: .winBack,
            id: OfferID(unchecked: "back"),
            mode: mode,
            period: silver.terms.period,
            numberOfPeriods: count,
            price: usd(499)
        )
    }

    /// Row e2 and rule S61.
    @Test func whoComesBackBeginsAgainAndItIsNoted() throws {
        var story = try Self.januaryOnly()
        let offer = Self.period(of: .payAsYouGo, times: 2)
        story.buy(silver, by: offer, at("2026-03-01"))
        #expect(story.notifications.last == "SUBSCRIBED/RESUBSCRIBE")
        #expect(story.subscription?.wonBackAt == at("2026-03-01"))
        var prices: [Money?] = []
        for _ in 1...2 {
            try story.carryOut()
            prices.append(story.subscription?.period.price)
        }
        #expect(prices == [usd(499), usd(999)])
        #expect(story.subscription?.totalPaidTime == PaidTime(months: 4))
        #expect(try story.findings() == [])
        // Without the note the next offer would not wait: the audit says so.
        story.subscription?.wonBackAt = nil
        #expect(try story.findings().map(\.invariant).contains(.offersAreUsedOnce))
    }

    /// The clock of a sandbox may stand still between the two.
    @Test func anOfferThatIsRefundedAtOnceHasBegun() throws {
        var story = try Self.januaryOnly()
        let offer = Self.period(of: .payUpFront)
        story.buy(silver, by: offer, at("2026-03-01"))
        story.apply(.autoRenewTurnedOff, at("2026-03-15"))
        try story.carryOut()
        story.buy(silver, by: offer, at("2026-06-01"))
        let again = try #require(story.subscription?.period.transactionID)
        story.apply(.refunded(again, usd(499), revokes: true), at("2026-06-01"))
        #expect(story.subscription?.wonBackAt == at("2026-06-01"))
        let broken = try story.findings().map(\.invariant)
        #expect(!broken.contains(.offersAreUsedOnce))
    }

    /// A refund after the end shortens no period, but its time is not paid for any more.
    @Test func aPeriodThatWasGivenBackInFullCountsNothing() throws {
        var subscription = try Self.ended()
        let offer = Self.offer { $0.paidMonths = 3 }
        #expect(Self.ids([offer], subscription) == ["back"])
        subscription.period.refunded = usd(1)
        #expect(Self.ids([offer], subscription) == ["back"])
        subscription.period.refunded = subscription.period.price
        #expect(subscription.totalPaidTime == PaidTime(months: 2))
        #expect(Self.ids([offer], subscription).isEmpty)
    }

    /// A period that ended early counts for the part that was used.
    @Test func anUpgradedPeriodCountsInProportion() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        story.buy(gold, at("2026-01-11"))
        // Ten of 31 days of a month of 30.44 days.
        #expect(story.subscription?.totalPaidTime == PaidTime(months: 1, days: 9))
    }
}
