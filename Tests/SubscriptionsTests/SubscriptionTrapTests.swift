import EventTypes
import Subscriptions
import Testing

/// Traps of subscriptions: moments that are equal, policies that change, and prices that are small.
@Suite struct SubscriptionTrapTests {
    /// S417: the service ends, and then it returns.
    @Test func atOneTimeGraceEndsBeforeTheNextCharge() throws {
        var story = StoryTeller(policy(grace: .days(3)))
        story.buy(silver, at("2026-01-01"))
        for _ in 1...7 { try story.carryOut(charging: false) }
        #expect(story.subscription?.state == .inGracePeriod)
        let end = at("2026-02-04")
        #expect(story.next?.kind == .graceEnd && story.next?.time == end)
        try story.carryOut(charging: false)
        #expect(story.next?.kind == .retryCharge && story.next?.time == end)
        try story.carryOut()
        #expect(story.subscription?.state == .active)
        #expect(story.subscription?.period.start == end)
        #expect(
            story.notifications.suffix(2) == ["GRACE_PERIOD_EXPIRED", "DID_RENEW/BILLING_RECOVERY"]
        )
    }

    /// S85: who is in grace keeps it, and who has none gets none.
    @Test func anotherGracePeriodCountsForLaterFailuresOnly() throws {
        let changes: [(Duration?, Duration?)] = [(.days(16), nil), (nil, .days(16))]
        for (before, after) in changes {
            var story = StoryTeller(policy(grace: before))
            story.buy(silver, at("2026-01-01"))
            for _ in 1...5 { try story.carryOut(charging: false) }
            let failed = try #require(story.subscription)
            #expect(failed.state == (before == nil ? .inBillingRetryPeriod : .inGracePeriod))
            let other = SubscriptionStateMachine(policy: policy(grace: after))
            #expect(
                other.dueActions.state(of: failed, at: at("2026-02-10")) == failed.state,
                "\(before as Any)"
            )
            let quote = RenewalQuote(storefront: usa, price: usd(999))
            let due = try #require(other.dueActions.next(for: failed))
            let move = other.apply(.due(due.kind, quote), at: due.time, to: failed)
            #expect(move.plan?.subscription.gracePeriodEnd == failed.gracePeriodEnd)
        }
    }

    /// S85 and S150: at most six days for a week, in proportion at a sandbox's rate.
    @Test func graceOfAWeekIsSixSeventhsAtAnyRate() throws {
        let weekly = plan("weekly", level: 1, SubscriptionPeriod(1, .week), price: 99)
        for (rate, seconds) in [
            (SubscriptionRate.realTime, Int64(6 * 86_400)),
            (.monthlyRenewalEveryHour, 15 * 60 * 6 / 7),
        ] {
            var fast = policy(grace: .days(28))
            fast.rate = rate
            var story = StoryTeller(fast)
            story.buy(weekly, at("2026-01-01"))
            while story.subscription?.state == .active { try story.carryOut(charging: false) }
            let failed = try #require(story.subscription)
            let grace = try #require(failed.gracePeriodEnd).duration(since: failed.period.end)
            #expect(abs(grace.milliseconds - seconds * 1000) < 1000, "\(rate)")
        }
    }

    /// S505: a charge of the last day whose outcome is known only after the end is given back.
    @Test func aChargeThatOutlastsBillingRetryIsStray() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        while story.next?.time ?? at("2027-01-01") < at("2026-04-01") {
            try story.carryOut(charging: false)
        }
        let last = try #require(story.next)
        #expect(last.kind == .retryCharge && last.time == at("2026-04-01"))
        let quote = RenewalQuote(storefront: usa, price: usd(999))
        let charge = try #require(story.apply(.due(last.kind, quote), last.time).plan?.charge)
        story.apply(.chargeUnknown(charge.key), last.time)
        #expect(try story.carryOut() == at("2026-04-02"))
        #expect(story.subscription?.state == .expired)
        let late = SubscriptionEvent.chargeSucceeded(
            charge.key,
            story.draw(),
            capturedAt: last.time
        )
        #expect(story.apply(late, at("2026-04-03")) == .stray)
    }

    /// S83: paid in the last moment, it recovers.
    @Test func aChargeInTheLastMomentOfBillingRetryRecovers() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        while story.next?.kind != .retryEnd { try story.carryOut(charging: false) }
        let end = try #require(story.subscription?.billingRetryEnd)
        let quote = RenewalQuote(storefront: usa, price: usd(999))
        let moment = end.advanced(by: .milliseconds(-1))
        let charge = try #require(story.apply(.chargeRequested(quote), moment).plan?.charge)
        // The end waits for the outcome.
        #expect(story.next?.time == moment.advanced(by: .seconds(300)))
        story.answer(charge, true, end.advanced(by: .seconds(1)))
        #expect(story.subscription?.state == .active)
        #expect(story.notifications.last == "DID_RENEW/BILLING_RECOVERY")
    }

    /// S100: each choice replaces the one before it.
    @Test func theLastOfSeveralChoicesCounts() throws {
        var story = StoryTeller()
        story.buy(gold, at("2026-01-01"))
        story.apply(.productScheduled(silver), at("2026-01-02"))
        story.apply(.productScheduled(bronze), at("2026-01-03"))
        story.apply(.scheduleWithdrawn, at("2026-01-04"))
        story.apply(.productScheduled(silverYear), at("2026-01-05"))
        try story.carryOut()
        #expect(story.subscription?.product == silverYear)
        #expect(
            story.notifications.filter { $0.hasPrefix("DID_CHANGE_RENEWAL_PREF") } == [
                "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE",
                "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE",
            ]
        )
    }

    /// S102: in the smallest unit of a currency, and never more than was paid in all.
    @Test(arguments: [("JPY", Int64(1)), ("JPY", 980), ("KWD", 3_141), ("USD", 1)])
    func aRefundIsRoundedDownInItsCurrency(code: String, price: Int64) throws {
        let currency = Currency(unchecked: code)
        var lower = plan("lower", level: 2, price: price)
        lower.price = Money(minorUnits: price, currency: currency)
        var higher = plan("higher", level: 1, price: price)
        higher.price = lower.price
        var highest = plan("highest", level: 1, price: price)
        highest.price = lower.price
        var story = StoryTeller()
        story.buy(lower, at("2026-04-01"))
        var refunded = Int64(0)
        for (product, date) in [(higher, "2026-04-10"), (highest, "2026-04-19")] {
            let refunds = try #require(story.buy(product, at(date)).plan?.refunds)
            for refund in refunds {
                #expect(refund.amount.currency == currency && refund.amount.minorUnits < price)
                refunded += refund.amount.minorUnits
            }
        }
        #expect(refunded <= 2 * price)
        // 21 of 30 days are left each time.
        #expect(refunded == 2 * (price * 21 / 30))
    }
}
