import EventTypes
import Subscriptions
import Testing

/// Stories of one subscription, notifications date by date.
@Suite struct SubscriptionLifeTests {
    private func dates(_ story: StoryTeller) -> String {
        guard let period = story.subscription?.period else { return "none" }
        return "\(period.start.description.prefix(10)) to \(period.end.description.prefix(10))"
    }

    @Test func aLifeFromMonthEndToResubscription() throws {
        var story = StoryTeller(policy(grace: .days(16)))
        story.buy(silver, at("2026-01-31T10:00:00"))
        #expect(try story.carryOut() == at("2026-02-27T10:00:00"))
        #expect(dates(story) == "2026-02-28 to 2026-03-31")
        // Four charges fail before and at the end, and grace begins.
        for _ in 1...4 { try story.carryOut(charging: false) }
        #expect(story.subscription?.lastTry == at("2026-03-31T10:00:00"))
        try story.carryOut()
        #expect(story.subscription?.state == .inGracePeriod)
        #expect(story.subscription?.gracePeriodEnd == at("2026-04-16T10:00:00"))
        #expect(story.subscription?.billingRetryEnd == at("2026-05-30T10:00:00"))
        // A recovery in grace leaves no gap.
        try story.carryOut(charging: false)
        #expect(try story.carryOut() == at("2026-04-02T10:00:00"))
        #expect(dates(story) == "2026-03-31 to 2026-04-30")
        // Half of the period is refunded.
        let upgrade = story.buy(gold, at("2026-04-15T10:00:00"))
        #expect(upgrade.plan?.refunds.map(\.amount) == [usd(499)])
        #expect(upgrade.plan?.changedPeriods.map(\.isUpgraded) == [true])
        #expect(dates(story) == "2026-04-15 to 2026-05-15")
        // A recovery after grace moves the billing date.
        try story.run(until: at("2026-06-04T10:00:00"), charging: false)
        #expect(story.subscription?.state == .inBillingRetryPeriod)
        #expect(try story.carryOut() == at("2026-06-05T10:00:00"))
        #expect(dates(story) == "2026-06-05 to 2026-07-05")
        story.apply(.autoRenewTurnedOff, at("2026-06-20"))
        try story.carryOut()
        #expect(story.subscription?.expirationIntent == .autoRenewDisabled)
        #expect(story.next == nil)
        story.buy(silver, at("2026-08-20"))
        #expect(dates(story) == "2026-08-20 to 2026-09-20")
        #expect(story.subscription?.id == TransactionID(number: 1))
        #expect(story.subscription?.recentStart == at("2026-01-31T10:00:00"))
        #expect(
            story.notifications == [
                "SUBSCRIBED/INITIAL_BUY", "DID_RENEW", "DID_FAIL_TO_RENEW/GRACE_PERIOD",
                "DID_RENEW/BILLING_RECOVERY", "DID_CHANGE_RENEWAL_PREF/UPGRADE",
                "DID_FAIL_TO_RENEW/GRACE_PERIOD", "GRACE_PERIOD_EXPIRED",
                "DID_RENEW/BILLING_RECOVERY", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
                "EXPIRED/VOLUNTARY", "SUBSCRIBED/RESUBSCRIBE",
            ]
        )
    }

    /// S111.
    @Test func aGapOfMoreThan60DaysBeginsANewRecentSubscription() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        story.apply(.autoRenewTurnedOff, at("2026-01-02"))
        story.buy(silver, at("2026-04-03"))
        #expect(story.subscription?.recentStart == at("2026-04-03"))
        #expect(story.subscription?.startedAt == at("2026-01-01"))
    }

    /// S500.
    @Test func billingRetryChargesOn14DaysAndEndsAfter60() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        for _ in 1...5 { try story.carryOut(charging: false) }
        var days: [Int64] = []
        while story.subscription?.state == .inBillingRetryPeriod {
            let time = try story.carryOut(charging: false)
            days.append(time.duration(since: at("2026-02-01")).milliseconds / 86_400_000)
        }
        #expect(days == [1, 2, 3, 5, 7, 10, 14, 21, 28, 35, 42, 49, 56, 59, 60])
        #expect(story.subscription?.expirationIntent == .billingError)
        #expect(story.subscription?.autoRenewOffReason == .billing)
        #expect(story.notifications.last == "EXPIRED/BILLING_RETRY")
    }

    /// S104.
    @Test func aDowngradeTakesEffectWithTheRenewal() throws {
        var story = StoryTeller()
        story.buy(gold, at("2026-01-31"))
        story.apply(.productScheduled(silverYear), at("2026-02-03"))
        #expect(story.subscription?.nextProduct == silverYear)
        try story.carryOut()
        let period = try #require(story.subscription?.period)
        #expect(period.product == silverYear)
        #expect(period.anchor == at("2026-02-28"))
        #expect(period.number == 1)
        #expect(period.end == at("2027-02-28"))
        #expect(story.subscription?.pendingProduct == nil)
        #expect(story.subscription?.epoch == 2)
    }

    @Test func anUpgradeForgetsTheScheduledProduct() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        story.apply(.productScheduled(bronze), at("2026-01-05"))
        story.buy(gold, at("2026-01-10"))
        #expect(story.subscription?.pendingProduct == nil)
        try story.carryOut()
        #expect(story.subscription?.product.id == gold.id)
    }

    @Test func whatHasEndedHasNoScheduledProduct() throws {
        var story = StoryTeller()
        story.buy(gold, at("2026-01-01"))
        story.apply(.productScheduled(silver), at("2026-01-05"))
        #expect(story.subscription?.pendingProduct == silver)
        try story.run(until: at("2026-06-01"), charging: false)
        #expect(story.subscription?.state == .expired)
        #expect(story.subscription?.pendingProduct == nil)
    }

    /// S31.
    @Test func aLowerPriceCountsAtOnceAndAHigherOneDoesNot() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        try story.carryOut(quote: 799)
        try story.carryOut(quote: 1299)
        #expect(story.changes.compactMap { $0.newPeriod?.price } == [999, 799, 799].map(usd))
    }

    /// S107.
    @Test func anUpgradeAfterAnEarlyRenewalRefundsTwoPeriods() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        try story.carryOut()
        let upgrade = story.buy(gold, at("2026-01-31T12:00:00"))
        // 999 × 12 hours / 31 days is 16.1 cents.
        #expect(upgrade.plan?.refunds.map(\.amount) == [usd(999), usd(16)])
        #expect(story.subscription?.period.start == at("2026-01-31T12:00:00"))
        #expect(story.subscription?.earlierPeriod?.effectiveEnd == at("2026-01-31T12:00:00"))
    }

    /// S131.
    @Test func aRefundAfterAnEarlyRenewalRefundsTheNextPeriodToo() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        try story.carryOut()
        let first = TransactionID(number: 1)
        let move = story.apply(.refunded(first, usd(999), revokes: true), at("2026-01-31T12:00:00"))
        #expect(move.plan?.refunds.map(\.amount) == [usd(999)])
        #expect(story.subscription?.state == .revoked)
        #expect(story.subscription?.period.transactionID == first)
        story.apply(.refundReversed(first, usd(999), restores: true), at("2026-01-31T18:00:00"))
        #expect(story.subscription?.state == .active)
        #expect(story.subscription?.isAutoRenewOn == false)
        #expect(story.subscription?.entitlementEnd == at("2026-02-01"))
    }

    @Test func aRefundOfAPeriodThatHasNotBegunLeavesTheRunningOne() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        try story.carryOut()
        let before = try #require(story.subscription?.period.charge)
        let next = TransactionID(number: 2)
        story.apply(.refunded(next, usd(999), revokes: true), at("2026-01-31T12:00:00"))
        #expect(story.subscription?.state == .active)
        #expect(story.subscription?.entitlementEnd == at("2026-02-01"))
        // A later charge for the same period has another key.
        story.apply(.autoRenewTurnedOn, at("2026-01-31T13:00:00"))
        try story.carryOut(at: at("2026-01-31T13:00:00"))
        let after = try #require(story.subscription?.period.charge)
        #expect(after.period == before.period && after != before)
    }

    /// S86.
    @Test func whoCancelsAfterTheChargeHasTheNextPeriodAndNoOther() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        let action = try #require(story.next)
        let quote = RenewalQuote(storefront: usa, price: usd(999))
        let charge = try #require(story.apply(.due(action.kind, quote), action.time).plan?.charge)
        story.apply(.autoRenewTurnedOff, action.time)
        story.answer(charge, true, action.time)
        #expect(story.subscription?.entitlementEnd == at("2026-03-01"))
        #expect(story.subscription?.isAutoRenewOn == false)
        #expect(try story.carryOut() == at("2026-03-01"))
        #expect(story.subscription?.state == .expired)
    }

    /// S505.
    @Test func aChargeThatComesTooLateForItsSubscriptionIsStray() throws {
        var story = StoryTeller(policy(grace: .days(16)))
        story.buy(silver, at("2026-01-01"))
        for _ in 1...5 { try story.carryOut(charging: false) }
        let quote = RenewalQuote(storefront: usa, price: usd(999))
        let move = story.apply(.chargeRequested(quote), at("2026-02-01T06:00:00"))
        let charge = try #require(move.plan?.charge)
        story.apply(.autoRenewTurnedOff, at("2026-02-01T07:00:00"))
        let late = at("2026-02-01T08:00:00")
        let key = charge.key
        #expect(story.apply(.chargeSucceeded(key, story.draw(), capturedAt: late), late) == .stray)
        #expect(story.subscription?.state == .expired)
    }

    /// S505.
    @Test func anUnknownChargeThatWasMadeInTimeLeavesNoGap() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        let action = try #require(story.next)
        let quote = RenewalQuote(storefront: usa, price: usd(999))
        let charge = try #require(story.apply(.due(action.kind, quote), action.time).plan?.charge)
        story.apply(.chargeUnknown(charge.key), action.time)
        try story.carryOut()
        #expect(story.subscription?.state == .inBillingRetryPeriod)
        // No other charge is made while that one is open.
        #expect(story.next?.kind == .retryEnd)
        let id = story.draw()
        story.apply(.chargeSucceeded(charge.key, id, capturedAt: action.time), at("2026-02-04"))
        #expect(dates(story) == "2026-02-01 to 2026-03-01")
        #expect(story.notifications.last == "DID_RENEW/BILLING_RECOVERY")
    }

    /// S505.
    @Test func theEndOfAPeriodWaitsALittleForAnOpenCharge() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        for _ in 1...3 { try story.carryOut(charging: false) }
        let last = try #require(story.next)
        #expect(last.time == at("2026-02-01"))
        let quote = RenewalQuote(storefront: usa, price: usd(999))
        let charge = try #require(story.apply(.due(last.kind, quote), last.time).plan?.charge)
        #expect(story.next?.time == at("2026-02-01T00:05:00"))
        story.answer(charge, true, at("2026-02-01T00:00:02"))
        #expect(dates(story) == "2026-02-01 to 2026-03-01")
        #expect(story.notifications.last == "DID_RENEW")
    }

    /// S82.
    @Test func whoIsChargedTwiceInOneAnswerHasOnePeriod() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        try story.carryOut()
        let key = try #require(story.subscription?.period.charge)
        let again = story.apply(
            .chargeSucceeded(key, TransactionID(number: 2), capturedAt: at("2026-01-31")),
            at("2026-02-02")
        )
        #expect(again == .unchanged)
        #expect(story.apply(.purchaseCharged(purchase(silver, 1)), at("2026-02-02")) == .unchanged)
    }
}
