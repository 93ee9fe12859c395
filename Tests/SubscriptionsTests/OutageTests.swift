import EventTypes
import Subscriptions
import Testing

/// The store comes back after it was away (rules S520 to S522).
@Suite struct OutageTests {
    /// S520.
    @Test func withinADayTheRenewalBeginsWhereThePeriodEnded() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        try story.carryOut(at: at("2026-02-01T20:00:00"))
        #expect(story.subscription?.period.start == at("2026-02-01"))
        #expect(story.notifications.last == "DID_RENEW")
    }

    /// S520.
    @Test func afterAYearOnePeriodIsChargedAndItBeginsNow() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        try story.run(until: at("2026-01-01"), charging: true)
        try story.carryOut(at: at("2027-03-10"))
        #expect(story.subscription?.period.start == at("2027-03-10"))
        #expect(story.subscription?.period.end == at("2027-04-10"))
        #expect(story.changes.map(\.cause) == [.purchased, .renewedLate])
        #expect(story.subscription?.recentStart == at("2027-03-10"))
        #expect(story.next?.time == at("2027-04-09"))
    }

    /// S520.
    @Test func aChargeLearnedOfAfterTheNextPeriodPaysOneFromNow() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        let action = try #require(story.next)
        let quote = RenewalQuote(storefront: usa, price: usd(999))
        let charge = try #require(story.apply(.due(action.kind, quote), action.time).plan?.charge)
        for (learnedAt, start) in [("2026-02-28", "2026-02-01"), ("2026-03-01", "2026-03-01")] {
            var later = story
            later.apply(
                .chargeSucceeded(charge.key, later.draw(), capturedAt: action.time),
                at(learnedAt)
            )
            #expect(later.subscription?.period.start == at(start))
            #expect(later.subscription?.entitlementEnd ?? at("2026-01-01") > at(learnedAt))
        }
    }

    /// S85.
    @Test func nobodyPaysTwoPeriodsInAdvance() throws {
        var early = policy()
        early.chargesBeforeEnd = [.days(50), .days(40), .zero]
        var story = StoryTeller(early)
        story.buy(silver, at("2026-01-01"))
        #expect(try story.carryOut() == at("2026-01-01"))
        #expect(story.subscription?.entitlementEnd == at("2026-03-01"))
        #expect(try story.carryOut() == at("2026-02-01"))
    }

    /// S522.
    @Test func afterAYearAnUnpaidSubscriptionIsChargedOnceMore() throws {
        var story = StoryTeller(policy(grace: .days(16)))
        story.buy(silver, at("2026-01-01"))
        let now = at("2027-03-10")
        var kinds: [DueAction.Kind] = []
        while let action = story.next {
            kinds.append(action.kind)
            try story.carryOut(at: now, charging: false)
        }
        #expect(kinds == [.renewalCharge, .periodEnd, .retryEnd])
        #expect(story.subscription?.state == .expired)
        // Grace would have ended long ago, so there is none.
        #expect(
            story.changes.map(\.cause) == [.purchased, .billingRetryBegan, .billingRetryEnded]
        )
    }

    /// S522.
    @Test func anOutageInGraceEndsItAtItsDateAfterOneTry() throws {
        var story = StoryTeller(policy(grace: .days(16)))
        story.buy(silver, at("2026-01-01"))
        for _ in 1...5 { try story.carryOut(charging: false) }
        let now = at("2026-05-01")
        var kinds: [DueAction.Kind] = []
        while let action = story.next {
            kinds.append(action.kind)
            try story.carryOut(at: now, charging: false)
        }
        #expect(kinds == [.retryCharge, .graceEnd, .retryEnd])
    }

    /// S112.
    @Test func whatTheCustomerDoesComesAfterWhatIsOverdue() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        story.apply(.autoRenewTurnedOff, at("2026-01-02"))
        let event = SubscriptionEvent.autoRenewTurnedOn
        let overdue = story.machine.apply(event, at: at("2026-02-01"), to: story.subscription)
        guard case .overdue(let action) = overdue else {
            Issue.record("\(overdue)")
            return
        }
        #expect(action.kind == .periodEnd)
        #expect(story.apply(event, at("2026-02-01")) == .refused(.ended))
        #expect(story.changes.map(\.cause) == [.purchased, .autoRenewTurnedOff, .expired])
    }

    /// S524: a restored store asks the processor for what may have been charged by then.
    @Test func theFirstTimeOfAChargeStaysWhateverHappens() throws {
        var story = StoryTeller(policy())
        let rules = story.machine.dueActions
        story.buy(silver, at("2026-01-01"))
        let first = try #require(story.next?.time)
        for _ in 1...5 {
            let subscription = try #require(story.subscription)
            #expect(rules.firstChargeTime(of: subscription) == first)
            try story.carryOut(charging: false)
        }
        var extended = try #require(story.subscription)
        extended.period.extendedFrom = extended.period.end
        extended.period.end = at("2026-03-01")
        #expect(rules.firstChargeTime(of: extended) == first)
    }

    /// S205.
    @Test func theDatesTellTheStateBeforeTheDueActionIsCarriedOut() throws {
        var story = StoryTeller(policy(grace: .days(16)))
        let rules = story.machine.dueActions
        story.buy(silver, at("2026-01-01"))
        let active = try #require(story.subscription)
        #expect(rules.state(of: active, at: at("2026-01-31T23:59:59")) == .active)
        #expect(rules.state(of: active, at: at("2026-02-01")) == .inBillingRetryPeriod)
        for _ in 1...5 { try story.carryOut(charging: false) }
        let grace = try #require(story.subscription)
        #expect(rules.state(of: grace, at: at("2026-02-16T23:59:59")) == .inGracePeriod)
        #expect(rules.state(of: grace, at: at("2026-02-17")) == .inBillingRetryPeriod)
        #expect(rules.state(of: grace, at: at("2026-04-02")) == .expired)
        #expect(grace.isEntitled(at: at("2026-02-16")) && !grace.isEntitled(at: at("2026-02-17")))
    }

    /// S205.
    @Test func whatTheDatesTellHasItsReason() throws {
        var story = StoryTeller(policy())
        let rules = story.machine.dueActions
        story.buy(silver, at("2026-01-01"))
        let on = try #require(story.subscription)
        #expect(rules.present(on, at: at("2026-01-31")) == on)
        #expect(rules.present(on, at: at("2026-02-01")).expirationIntent == .billingError)
        story.apply(.autoRenewTurnedOff, at("2026-01-10"))
        let off = try #require(story.subscription)
        let over = rules.present(off, at: at("2026-02-01"))
        #expect(over.state == .expired && over.expirationIntent == .autoRenewDisabled)
        // The same as when the end is carried out.
        try story.carryOut()
        #expect(story.subscription?.expirationIntent == over.expirationIntent)
    }

    /// S510.
    @Test func firstChargesAreSpreadAndEachSubscriptionKeepsItsPlace() throws {
        let machine = SubscriptionStateMachine(policy: Self.spread)
        var times: Set<StoreTime> = []
        for second in Int64(1)...1000 {
            let subscription = try Self.subscription(second: second, 0, by: machine)
            let action = try #require(machine.dueActions.next(for: subscription))
            #expect(action.time >= at("2026-01-31") && action.time < at("2026-01-31T06:00:00"))
            #expect(action == machine.dueActions.next(for: subscription))
            times.insert(action.time)
        }
        // An advance of the clock stops at each of them, so there are not more than 24.
        #expect(times.count > 20 && times.count <= 24)
    }

    /// S510: their rows are neighbours.
    @Test func subscriptionsOfOneSecondHaveNeighbouringSteps() throws {
        let machine = SubscriptionStateMachine(policy: Self.spread)
        var steps: [Int64] = []
        for part in Int64(0)..<12 {
            let subscription = try Self.subscription(second: 6, part * 900_001, by: machine)
            let action = try #require(machine.dueActions.next(for: subscription))
            let delay = action.time.duration(since: at("2026-01-31"))
            steps.append(delay.milliseconds / 900_000)
        }
        let first = try #require(steps.first)
        #expect(steps == (Int64(0)..<12).map { (first + $0 % 6) % 24 })
    }

    /// S510: what an earlier version has written stays until the subscription changes.
    @Test func theStepOfAnEarlierVersionIsNoDifference() throws {
        let machine = SubscriptionStateMachine(policy: Self.spread)
        let subscription = try Self.subscription(second: 0, 0, by: machine)
        let audit = SubscriptionAudit(policy: Self.spread)
        var accepted: [Int] = []
        for step in 0..<24 {
            var history = SubscriptionHistory(subscription: subscription)
            history.actions = [
                DueAction(
                    kind: .renewalCharge,
                    time: at("2026-01-31").advanced(by: .seconds(step * 900)),
                    subscriptionID: subscription.id
                )
            ]
            let found = audit.findings(in: history, at: at("2026-01-02"))
            if !found.contains(where: { $0.invariant == .oneDueAction }) { accepted.append(step) }
        }
        // The one by its number alone, and the one by its second.
        #expect(accepted == [0, 18])
    }

    /// S524: a version that places subscriptions otherwise may have charged before.
    @Test func noChargeWasMadeBeforeTheFirstStep() throws {
        let machine = SubscriptionStateMachine(policy: Self.spread)
        for second in Int64(1)...50 {
            let subscription = try Self.subscription(second: second, 0, by: machine)
            #expect(machine.dueActions.firstChargeTime(of: subscription) == at("2026-01-31"))
        }
    }

    /// A policy that spreads charges over six hours.
    private static var spread: SubscriptionPolicy {
        var spread = policy()
        spread.spread = .hours(6)
        return spread
    }

    /// A subscription whose id was drawn in a second, as the first, the second or a later one of it.
    private static func subscription(
        second: Int64,
        _ part: Int64,
        by machine: SubscriptionStateMachine
    ) throws -> Subscription {
        let number = 1_800_000_000_000_000 + second * 10_000_000 + part
        let move = machine.apply(
            .purchaseCharged(purchase(silver, number)),
            at: at("2026-01-01"),
            to: nil
        )
        return try #require(move.plan?.subscription)
    }
}
