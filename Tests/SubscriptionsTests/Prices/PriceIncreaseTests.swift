import EventTypes
import Subscriptions
import Testing

/// Price increases, with consent and without (rules S120 to S127).
@Suite struct PriceIncreaseTests {
    private static func increase(
        to price: Int64,
        _ effectiveAt: String = "2026-03-15",
        id: String = "silver:USA:2"
    ) -> PriceIncrease {
        PriceIncrease(
            id: PriceChangeID(unchecked: id),
            productID: silver.id,
            price: usd(price),
            effectiveAt: at(effectiveAt)
        )
    }

    /// A subscription from February 1, whose price rises for the period from April 1 on.
    private static func raised(
        to price: Int64 = 2999,
        _ policy: SubscriptionPolicy = policy()
    ) throws -> StoryTeller {
        var story = StoryTeller(policy)
        story.buy(silver, at("2026-02-01"))
        story.apply(.priceIncreaseScheduled(increase(to: price)), at("2026-02-05"))
        try story.run(until: at("2026-03-01T12:00:00"), charging: true)
        return story
    }

    @Test func theCustomerIsAskedANoticeBeforeTheRenewal() throws {
        var story = try Self.raised()
        #expect(story.subscription?.priceIncrease?.status == .scheduled)
        #expect(story.subscription?.period.price == usd(999), "S124")
        #expect(story.next?.kind == .priceIncrease)
        #expect(story.next?.time == at("2026-03-02"))
        try story.carryOut()
        #expect(story.subscription?.priceIncrease?.status == .pending)
        #expect(story.subscription?.nextPrice == usd(999))
        #expect(story.notifications.last == "PRICE_INCREASE/PENDING")
        #expect(try story.findings() == [])
    }

    @Test func whoAgreesPaysTheNewPrice() throws {
        var story = try Self.raised()
        try story.carryOut()
        story.apply(.priceIncreaseAnswered(nil, isAgreed: true), at("2026-03-10"))
        #expect(story.subscription?.nextPrice == usd(2999))
        #expect(story.notifications.last == "PRICE_INCREASE/ACCEPTED")
        try story.carryOut()
        #expect(story.subscription?.period.price == usd(2999))
        #expect(story.subscription?.priceIncrease == nil)
        try story.carryOut()
        #expect(story.subscription?.period.price == usd(2999))
        #expect(try story.findings() == [])
    }

    @Test(arguments: [nil, false])
    func whoDoesNotAgreeIsNotChargedAndLapses(answer: Bool?) throws {
        var story = try Self.raised()
        try story.carryOut()
        if let answer {
            story.apply(.priceIncreaseAnswered(nil, isAgreed: answer), at("2026-03-10"))
        }
        for _ in 1...4 { try story.carryOut() }
        #expect(story.subscription?.state == .active)
        try story.carryOut()
        #expect(story.subscription?.state == .expired)
        #expect(story.subscription?.expirationIntent == .didNotConsentToPriceIncrease)
        #expect(story.notifications.last == "EXPIRED/PRICE_INCREASE")
        #expect(story.next == nil && story.subscription?.priceIncrease == nil)
        #expect(try story.findings() == [])
    }

    @Test func whoAgreesInTheLastHourIsChargedAtOnce() throws {
        var story = try Self.raised()
        for _ in 1...4 { try story.carryOut() }
        let time = at("2026-03-31T23:30:00")
        story.apply(.priceIncreaseAnswered(nil, isAgreed: true), time)
        #expect(story.next?.kind == .renewalCharge)
        try story.carryOut(at: time)
        #expect(story.subscription?.period.price == usd(2999))
        #expect(try story.findings() == [])
    }

    @Test func theFirstAnswerCounts() throws {
        var story = try Self.raised()
        let yes = SubscriptionEvent.priceIncreaseAnswered(nil, isAgreed: true)
        let no = SubscriptionEvent.priceIncreaseAnswered(nil, isAgreed: false)
        #expect(story.apply(yes, at("2026-03-02")).refusal == nil, "a due question comes first")
        #expect(story.apply(yes, at("2026-03-10")) == .unchanged)
        #expect(story.apply(no, at("2026-03-10")).refusal == .answeredOtherwise)
        #expect(
            story.notifications.suffix(2) == ["PRICE_INCREASE/PENDING", "PRICE_INCREASE/ACCEPTED"]
        )
    }

    /// Trap 27: raised twice before the answer, and withdrawn after the consent.
    @Test func aLaterIncreaseReplacesTheQuestion() throws {
        var story = try Self.raised()
        try story.carryOut()
        let second = Self.increase(to: 3999, "2026-05-15", id: "silver:USA:3")
        story.apply(.priceIncreaseScheduled(second), at("2026-03-05"))
        let first = PriceChangeID(unchecked: "silver:USA:2")
        let late = story.apply(.priceIncreaseAnswered(first, isAgreed: true), at("2026-03-06"))
        #expect(late.refusal == .questionReplaced)
        try story.carryOut()
        #expect(story.subscription?.period.price == usd(999))
        try story.run(until: at("2026-05-02"), charging: true)
        story.apply(.priceIncreaseAnswered(nil, isAgreed: true), at("2026-05-03"))
        story.apply(.priceIncreaseWithdrawn, at("2026-05-04"))
        #expect(story.subscription?.nextPrice == usd(999))
        try story.carryOut()
        #expect(story.subscription?.period.price == usd(999))
        #expect(try story.findings() == [])
    }

    /// Trap 28: half as much again, or five dollars, or a second raise within a year.
    @Test func smallIncreasesNeedNoConsentOnceAYear() throws {
        var story = try Self.raised(to: 1400)
        try story.carryOut()
        #expect(story.subscription?.priceIncrease?.status == .notified)
        #expect(story.notifications.last == "PRICE_INCREASE/ACCEPTED")
        try story.carryOut()
        #expect(story.subscription?.period.price == usd(1400))
        #expect(story.subscription?.raisedAt == at("2026-04-01"))
        let second = Self.increase(to: 1450, "2026-06-15", id: "silver:USA:3")
        story.apply(.priceIncreaseScheduled(second), at("2026-04-05"))
        try story.run(until: at("2026-06-02"), charging: true)
        #expect(story.subscription?.priceIncrease?.status == .pending)
        #expect(try story.findings() == [])
    }

    /// A product that is scheduled may cost less than the running one, even after its raise.
    @Test func aRaiseOfAScheduledProductCountsForTheYear() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-03-01"))
        story.apply(.productScheduled(bronze), at("2026-03-01"))
        var increase = Self.increase(to: 549)
        increase.productID = bronze.id
        story.apply(.priceIncreaseScheduled(increase), at("2026-03-01"))
        try story.carryOut()
        #expect(story.subscription?.priceIncrease?.status == .notified)
        try story.carryOut()
        #expect(story.subscription?.period.product.id == bronze.id)
        #expect(story.subscription?.period.price == usd(549))
        #expect(story.subscription?.raisedAt == story.subscription?.period.start)
        #expect(try story.findings() == [])
    }

    /// Rule S120: both limits have to be exceeded, and a law asks always.
    @Test(arguments: [
        (999, 1499, false), (999, 1500, true), (1000, 1500, false), (1000, 1501, true),
        (100, 600, false), (100, 601, true), (100_000, 100_600, false),
    ])
    func bothLimitsCount(old: Int64, new: Int64, needsConsent: Bool) throws {
        var increase = Self.increase(to: new)
        increase.productID = gold.id
        var story = StoryTeller()
        let product = plan("gold", level: 1, price: old)
        story.buy(product, at("2026-02-01"))
        let subscription = try #require(story.subscription)
        var policy = PriceIncreaseRules.Policy()
        #expect(
            PriceIncreaseRules(policy: policy)
                .needsConsent(to: increase, from: product, of: subscription) == needsConsent
        )
        policy.consentStorefronts = [usa]
        #expect(
            PriceIncreaseRules(policy: policy)
                .needsConsent(to: increase, from: product, of: subscription)
        )
    }

    /// Rule S120: the year ends, whatever the increase says about its own time.
    @Test(arguments: [("2026-06-01", true), ("2024-01-01", false)])
    func theQuietYearIsCountedUntilTheRenewal(raisedAt: String, needsConsent: Bool) throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-06-01"))
        story.subscription?.raisedAt = at(raisedAt)
        let increase = Self.increase(to: 1049, "1970-01-01")
        story.apply(.priceIncreaseScheduled(increase), at("2026-06-01"))
        try story.carryOut()
        let status: PriceIncreaseStatus = needsConsent ? .pending : .notified
        #expect(story.subscription?.priceIncrease?.status == status)
    }

    /// Trap 29: the catalog asks less before the answer.
    @Test func aLowerPriceNeedsNoAnswer() throws {
        var story = try Self.raised()
        try story.carryOut()
        try story.carryOut(quote: 899)
        #expect(story.subscription?.period.price == usd(899))
        #expect(story.subscription?.priceIncrease == nil)
        #expect(try story.findings() == [])
    }

    /// Rule S121: nobody has less than the notice, or less than a whole period.
    @Test func whoLearnsLatePaysTheOldPriceOnceMore() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-02-01"))
        let soon = Self.increase(to: 2999, "2026-02-15")
        story.apply(.priceIncreaseScheduled(soon), at("2026-02-10"))
        try story.carryOut()
        #expect(story.subscription?.period.price == usd(999))
        #expect(story.next?.kind == .priceIncrease)
        #expect(story.next?.time == at("2026-03-02"))
    }

    /// A rebuild and a reconciliation do not know the settings.
    @Test func anIncreaseKeepsTheNoticeItWasScheduledWith() throws {
        var longer = policy()
        longer.prices.notice = .days(60)
        var story = StoryTeller(longer)
        story.buy(silverYear, at("2026-02-01"))
        var increase = Self.increase(to: silverYear.price.minorUnits + 10)
        increase.productID = silverYear.id
        story.apply(.priceIncreaseScheduled(increase), at("2026-02-05"))
        let subscription = try #require(story.subscription)
        #expect(story.next?.time == at("2026-12-03"))
        #expect(DueActionRules(policy: policy()).next(for: subscription) == story.next)
    }

    /// Rule S125.
    @Test func whoHasCancelledIsAskedOnceAutoRenewIsOnAgain() throws {
        var story = try Self.raised()
        try story.carryOut()
        story.apply(.autoRenewTurnedOff, at("2026-03-05"))
        #expect(story.next?.kind == .periodEnd)
        story.apply(.autoRenewTurnedOn, at("2026-03-20"))
        #expect(story.next?.kind == .priceIncrease)
        try story.carryOut(at: at("2026-03-20"))
        for _ in 1...5 { try story.carryOut() }
        #expect(story.notifications.last == "EXPIRED/PRICE_INCREASE")
        #expect(try story.findings() == [])
    }

    /// Rule S121: a question may come late, but a notice without consent may not.
    @Test func aLateNoticeWithoutConsentCountsOnePeriodLater() throws {
        var story = try Self.raised(to: 1400)
        story.apply(.autoRenewTurnedOff, at("2026-03-01T18:00:00"))
        let late = at("2026-03-31T23:00:00")
        story.apply(.autoRenewTurnedOn, late)
        #expect(story.next?.kind == .priceIncrease)
        try story.carryOut(at: late)
        #expect(story.subscription?.priceIncrease?.status == .scheduled)
        #expect(story.subscription?.nextPrice == usd(999))
        try story.carryOut(at: late)
        #expect(story.subscription?.period.price == usd(999))
        #expect(story.next?.kind == .priceIncrease)
        #expect(story.next?.time == at("2026-04-01"))
        try story.carryOut()
        #expect(story.subscription?.priceIncrease?.status == .notified)
        try story.carryOut()
        #expect(story.subscription?.period.price == usd(1400))
        #expect(try story.findings() == [])
    }

    /// Rule S126.
    @Test func whatIsOwedCostsThePriceThatWasAgreed() throws {
        var story = try Self.raised(to: 2999, policy(grace: .days(16)))
        try story.carryOut()
        story.apply(.priceIncreaseAnswered(nil, isAgreed: true), at("2026-03-10"))
        for _ in 1...5 { try story.carryOut(charging: false) }
        #expect(story.subscription?.state == .inGracePeriod)
        let second = Self.increase(to: 3999, "2026-04-02", id: "silver:USA:3")
        let later = story.apply(.priceIncreaseScheduled(second), at("2026-04-01"))
        #expect(later.refusal == .priceInUse)
        let withdrawal = story.apply(.priceIncreaseWithdrawn, at("2026-04-01"))
        #expect(withdrawal.refusal == .priceInUse)
        try story.carryOut()
        #expect(story.subscription?.period.price == usd(2999))
        #expect(try story.findings() == [])
    }

    /// Rule S126: what is being charged is what the customer was told.
    @Test func anIncreaseThatIsBeingChargedIsNotTakenBack() throws {
        var story = try Self.raised(to: 1400)
        try story.carryOut()
        let time = try #require(story.next?.time)
        let quote = RenewalQuote(storefront: usa, price: usd(1400))
        let move = story.apply(.due(.renewalCharge, quote), time)
        let charge = try #require(move.plan?.charge)
        #expect(story.apply(.priceIncreaseWithdrawn, time).refusal == .priceInUse)
        let second = Self.increase(to: 1450, id: "silver:USA:3")
        #expect(story.apply(.priceIncreaseScheduled(second), time).refusal == .priceInUse)
        story.answer(charge, false, time)
        #expect(story.apply(.priceIncreaseWithdrawn, time).refusal == nil)
        #expect(story.subscription?.nextPrice == usd(999))
        #expect(try story.findings() == [])
    }

    /// Rule S127.
    @Test func theEndDropsTheQuestion() throws {
        var story = try Self.raised()
        try story.carryOut()
        story.apply(.ended(.unknown), at("2026-03-05"))
        #expect(story.subscription?.priceIncrease == nil)
        #expect(try story.findings() == [])
    }

    /// Rule S127: the other product costs its own price, and its charge drops the question.
    @Test func anotherProductIsChargedWithoutTheQuestion() throws {
        var story = try Self.raised()
        try story.carryOut()
        story.apply(.productScheduled(bronze), at("2026-03-05"))
        #expect(story.subscription?.nextIncrease == nil)
        #expect(story.subscription?.priceIncreaseStatus == nil)
        #expect(story.next?.kind == .renewalCharge)
        try story.carryOut()
        #expect(story.subscription?.period.price == usd(499))
        #expect(story.subscription?.priceIncrease == nil)
        #expect(try story.findings() == [])
    }

    /// Rule S127: nobody loses a higher price by a change that is taken back.
    @Test func whoStaysWithTheProductIsAskedAgain() throws {
        var story = try Self.raised()
        try story.carryOut()
        story.apply(.productScheduled(bronze), at("2026-03-05"))
        story.apply(.scheduleWithdrawn, at("2026-03-06"))
        #expect(story.next?.kind == .priceIncrease)
        try story.carryOut(at: at("2026-03-06"))
        #expect(story.subscription?.priceIncrease?.status == .pending)
        for _ in 1...5 { try story.carryOut() }
        #expect(story.notifications.last == "EXPIRED/PRICE_INCREASE")
        #expect(try story.findings() == [])
    }

    /// Invariant 12: the audit finds a price that the customer was not told.
    @Test func aRaisedPriceWithoutConsentIsFound() throws {
        var story = try Self.raised()
        try story.carryOut()
        story.subscription?.priceIncrease?.status = .agreed
        try story.carryOut()
        #expect(story.subscription?.period.price == usd(2999))
        #expect(try story.findings().map(\.invariant) == [.noPriceAboveAnnounced])
    }
}
