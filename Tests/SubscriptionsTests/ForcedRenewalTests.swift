import EventTypes
import Subscriptions
import Testing

/// A test has the next period begin now.
@Suite struct ForcedRenewalTests {
    private static let quote = RenewalQuote(storefront: usa, price: usd(100_000))

    @Test func theRunningPeriodEndsWhenTheNextOneIsCharged() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        let time = at("2026-01-10")
        let charge = try #require(story.apply(.renewalForced(Self.quote), time).plan?.charge)
        #expect(charge.endsPeriod == true)
        #expect(story.subscription?.period.end == at("2026-02-01"))
        story.answer(charge, true, time)
        let subscription = try #require(story.subscription)
        #expect(subscription.period.start == time && subscription.period.end == at("2026-02-10"))
        #expect(subscription.earlierPeriod?.effectiveEnd == time)
        #expect(story.changes.last?.cause == .renewed)
        #expect(story.next?.time == at("2026-02-09"))
    }

    @Test func aChargeThatFailsLeavesThePeriod() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        let time = at("2026-01-10")
        let charge = try #require(story.apply(.renewalForced(Self.quote), time).plan?.charge)
        story.answer(charge, false, time)
        #expect(story.subscription?.state == .active)
        #expect(story.subscription?.period.end == at("2026-02-01"))
        #expect(story.next?.time == at("2026-01-31"))
    }

    @Test func onlyARunningPeriodOfARenewingSubscriptionEnds() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        story.apply(.autoRenewTurnedOff, at("2026-01-02"))
        #expect(
            story.apply(.renewalForced(Self.quote), at("2026-01-03")) == .refused(.notRenewing)
        )
        story.apply(.autoRenewTurnedOn, at("2026-01-04"))
        try story.carryOut()
        #expect(
            story.apply(.renewalForced(Self.quote), at("2026-01-31T12:00:00"))
                == .refused(.paidInAdvance)
        )
    }
}
