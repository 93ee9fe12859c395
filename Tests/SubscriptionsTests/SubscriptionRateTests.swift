import EventTypes
import Subscriptions
import Testing

/// The rates of a sandbox (rules S150 to S154).
@Suite struct SubscriptionRateTests {
    private static let periods = [
        SubscriptionPeriod(1, .week), SubscriptionPeriod(1, .month), SubscriptionPeriod(2, .month),
        SubscriptionPeriod(3, .month), SubscriptionPeriod(6, .month), SubscriptionPeriod(1, .year),
    ]

    /// Apple's table, in seconds.
    private static let table: [(SubscriptionRate, [Int64])] = [
        (.monthlyRenewalEveryHour, [900, 3600, 7200, 10_800, 21_600, 43_200]),
        (.monthlyRenewalEveryThirtyMinutes, [600, 1800, 3600, 5400, 10_800, 21_600]),
        (.monthlyRenewalEveryFifteenMinutes, [300, 900, 1800, 2700, 5400, 10_800]),
        (.monthlyRenewalEveryFiveMinutes, [180, 300, 600, 900, 1800, 3600]),
        (.monthlyRenewalEveryThreeMinutes, [180, 180, 360, 540, 1080, 2160]),
        (.monthlyRenewalEveryThirtySeconds, [10, 30, 60, 90, 180, 360]),
    ]

    private func rated(_ rate: SubscriptionRate, grace: Duration? = nil) -> SubscriptionPolicy {
        var rated = policy(grace: grace)
        rated.rate = rate
        return rated
    }

    @Test(arguments: table) func aRateHasApplesLengths(rate: SubscriptionRate, seconds: [Int64]) {
        #expect(Self.periods.map { rate.length(of: $0) } == seconds.map { .seconds($0) })
    }

    @Test func realTimeHasTheLengthsOfTheCalendar() {
        #expect(Self.periods.allSatisfy { SubscriptionRate.realTime.length(of: $0) == nil })
        #expect(Self.table.map(\.0) == SubscriptionRate.allCases.filter { $0 != .realTime })
    }

    @Test func aYearOfMonthsPassesInAnHour() throws {
        var story = StoryTeller(rated(.monthlyRenewalEveryFiveMinutes))
        story.buy(silver, at("2026-01-01"))
        try story.run(until: at("2026-01-01T00:58:00"), charging: true)
        let periods = story.changes.compactMap(\.newPeriod)
        #expect(periods.count == 12)
        for (index, period) in periods.enumerated() {
            let start = at("2026-01-01").advanced(by: .seconds(Int64(index) * 300))
            #expect(period.start == start && period.number == index + 1)
            #expect(period.end == start.advanced(by: .seconds(300)))
        }
    }

    @Test func graceAndRetryShrinkWithTheMonth() throws {
        var story = StoryTeller(rated(.monthlyRenewalEveryFiveMinutes, grace: .days(16)))
        story.buy(silver, at("2026-01-01"))
        try story.run(until: at("2026-01-01T00:05:01"), charging: false)
        let unpaid = try #require(story.subscription)
        #expect(unpaid.state == .inGracePeriod)
        let grace = try #require(unpaid.gracePeriodEnd).duration(since: unpaid.period.end)
        // Sixteen days of a month of 30.4375.
        #expect(grace == .milliseconds(157_700))
        #expect(unpaid.billingRetryEnd == unpaid.period.end.advanced(by: .seconds(600)))
        try story.run(until: at("2026-01-01T00:16:00"), charging: false)
        #expect(story.subscription?.state == .expired)
    }

    @Test func anotherRateCountsFromTheNextPeriodOn() throws {
        var story = StoryTeller(rated(.monthlyRenewalEveryHour))
        story.buy(silver, at("2026-01-01"))
        var faster = StoryTeller(rated(.monthlyRenewalEveryFiveMinutes))
        faster.subscription = story.subscription
        try faster.run(until: at("2026-01-01T01:00:00"), charging: true)
        let period = try #require(faster.subscription?.period)
        #expect(period.start == at("2026-01-01T01:00:00") && period.number == 1)
        #expect(period.end == at("2026-01-01T01:05:00"))
    }

    /// Invariants 1 to 7 hold at every rate.
    @Test(arguments: SubscriptionRate.allCases)
    func anAuditFindsNothingAtAnyRate(rate: SubscriptionRate) {
        var world = SubscriptionWorld(rated(rate, grace: .days(16)))
        let steps: [SubscriptionWorld.Step] = [
            .choose(1), .answer(0, .captured), .waitForAction, .scheduler(all: false),
            .answer(0, .failed), .waitForAction, .scheduler(all: false), .answer(0, .failed),
            .waitForAction, .scheduler(all: false), .answer(0, .captured), .waitForAction,
            .scheduler(all: false), .turnOff, .answer(0, .captured), .waitForAction,
            .scheduler(all: true),
        ]
        for step in steps {
            world.take(step)
            #expect(world.findings.isEmpty, "\(step): \(world.findings)")
        }
    }
}
