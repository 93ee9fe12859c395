import EventTypes
import Subscriptions
import Testing

/// Extensions of periods (rules S211 to S214 of docs/subscriptions.md).
@Suite struct ExtensionTests {
    private func request(_ id: String, days: Int = 3) -> SubscriptionEvent {
        .extended(RequestedExtension(id: id, days: days, reasonCode: 1))
    }

    @Test func theNextPeriodBeginsAtTheNewEndAndIsCountedFromIt() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-31"))
        story.apply(request("a"), at("2026-02-10"))
        let extended = try #require(story.subscription?.period)
        #expect(extended.extendedFrom == at("2026-02-28") && extended.end == at("2026-03-03"))
        #expect(story.subscription?.isEntitled(at: at("2026-03-02")) == true)
        try story.carryOut()
        #expect(story.subscription?.period.start == at("2026-03-03"))
        #expect(story.subscription?.period.end == at("2026-04-03"))
        try story.carryOut()
        #expect(story.subscription?.period.end == at("2026-05-03"))
        #expect(story.notifications.contains("RENEWAL_EXTENDED"))
    }

    @Test func aRequestExtendsOnce() {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        story.apply(request("a"), at("2026-01-10"))
        let once = story.subscription
        #expect(story.apply(request("a"), at("2026-01-11")) == .unchanged)
        #expect(
            story.apply(request("a", days: 4), at("2026-01-11")) == .refused(.extensionDiffers)
        )
        #expect(story.subscription == once)
    }

    @Test func thereAreTwoIn365Days() throws {
        var story = StoryTeller()
        story.buy(silverYear, at("2026-01-01"))
        story.apply(request("a", days: 90), at("2026-01-10"))
        story.apply(request("b", days: 90), at("2026-01-11"))
        let last = at("2027-01-10").advanced(by: .milliseconds(-1))
        #expect(story.apply(request("c"), last) == .refused(.tooManyExtensions))
        #expect(story.apply(request("c"), at("2027-01-10")).plan != nil)
    }

    @Test func aFreePeriodIsNotExtended() {
        var story = StoryTeller()
        story.buy(
            silver,
            by: introductory(.freeTrial, SubscriptionPeriod(1, .week), price: 0),
            at("2026-01-01")
        )
        #expect(story.apply(request("a"), at("2026-01-02")) == .refused(.notExtendable))
    }

    @Test func aFreePeriodIsNotExtendedByExtendingTheNext() throws {
        var story = StoryTeller()
        story.buy(
            silver,
            by: introductory(.freeTrial, SubscriptionPeriod(1, .month), price: 0),
            at("2026-01-01")
        )
        try story.carryOut()
        #expect(story.subscription?.earlierPeriod != nil)
        let beforeItsEnd = at("2026-01-31T12:00:00")
        #expect(story.apply(request("a"), beforeItsEnd) == .refused(.notExtendable))
        #expect(story.apply(request("a"), at("2026-02-01")).plan != nil)
    }

    @Test func ofPeriodsPaidInAdvanceTheNextIsExtended() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        try story.carryOut()
        story.apply(request("a"), at("2026-01-31T12:00:00"))
        #expect(story.subscription?.earlierPeriod?.end == at("2026-02-01"))
        #expect(story.subscription?.period.end == at("2026-03-04"))
    }

    /// The audit finds an extension that is recorded otherwise than it was made.
    @Test func extensionsAreAudited() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-31"))
        story.apply(request("a"), at("2026-02-10"))
        story.apply(request("b", days: 5), at("2026-02-11"))
        try story.carryOut()
        #expect(story.subscription?.earlierPeriod?.end == at("2026-03-08"))
        #expect(try story.findings() == [])
        func found(_ change: (inout PeriodExtension) -> Void) throws -> [Int] {
            var altered = story
            var extensions = try #require(story.subscription?.extensions)
            change(&extensions[1])
            altered.subscription?.extensions = extensions
            return Set(try altered.findings().map(\.invariant.rawValue)).sorted()
        }
        #expect(try found { $0.days = 4 } == [5, 6])
        #expect(try found { $0.days = 91 }.contains(15))
        #expect(try found { $0.id = "a" }.contains(15))
        #expect(try found { $0.extendedAt = at("2026-02-10") }.contains(15))
        var twice = story
        let first = try #require(story.subscription?.extensions?.first)
        twice.subscription?.extensions?.insert(first, at: 0)
        #expect(try twice.findings().map(\.invariant.rawValue).contains(15))
    }

    /// The processor answers after the extension: the paid period begins at the new end.
    @Test func aChargeThatIsUnderWayPaysThePeriodFromTheNewEnd() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        let due = try #require(story.next)
        let quote = RenewalQuote(storefront: usa, price: usd(999))
        story.apply(.due(due.kind, quote), due.time)
        let charge = try #require(story.subscription?.charge)
        story.apply(request("a"), due.time)
        story.apply(
            .chargeSucceeded(charge.key, TransactionID(number: 50), capturedAt: due.time),
            due.time
        )
        #expect(story.subscription?.period.start == at("2026-02-04"))
        #expect(story.subscription?.earlierPeriod?.end == at("2026-02-04"))
    }
}
