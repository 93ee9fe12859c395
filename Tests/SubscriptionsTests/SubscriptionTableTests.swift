import EventTypes
import Subscriptions
import Testing

/// Every event in every state: the table of docs/subscriptions.md.
@Suite struct SubscriptionTableTests {
    /// The columns.
    private enum Column: String, CaseIterable {
        case none, active, off, grace, retry, expired, revoked
    }

    private static let now = at("2026-02-10")
    private static let quote = RenewalQuote(storefront: usa, price: usd(999))
    private static let machine = SubscriptionStateMachine(policy: policy(grace: .days(16)))

    /// A subscription in a state at ``now``.
    ///
    /// The paid ones run from February 1 to March 1. The others ended on February 1.
    private static func subscription(_ column: Column) throws -> Subscription? {
        var story = StoryTeller(machine.policy)
        switch column {
        case .none: break
        case .active, .off, .revoked:
            story.buy(silver, at("2026-02-01"))
            if column == .off { story.apply(.autoRenewTurnedOff, at("2026-02-02")) }
            if column == .revoked {
                let id = TransactionID(number: 1)
                story.apply(.refunded(id, usd(999), revokes: true), at("2026-02-05"))
            }
        case .grace, .retry, .expired:
            story.buy(silver, at("2026-01-01"))
            if column == .expired {
                story.apply(.autoRenewTurnedOff, at("2026-01-02"))
                try story.carryOut()
            } else {
                for _ in 1...5 { try story.carryOut(charging: false) }
                // The tries of the first days have failed, so that nothing is due now.
                try story.run(until: at("2026-02-09"), charging: false)
                if column == .retry {
                    story.subscription?.state = .inBillingRetryPeriod
                    story.subscription?.gracePeriodEnd = nil
                }
            }
        }
        return story.subscription
    }

    /// An increase of the price of the product that runs.
    private static func raise(_ status: PriceIncreaseStatus) -> PriceIncrease {
        PriceIncrease(
            id: PriceChangeID(unchecked: "silver:USA:2"),
            productID: silver.id,
            price: usd(1099),
            effectiveAt: at("2026-03-15"),
            status: status
        )
    }

    /// The event of a row, made for a subscription.
    private static func event(_ name: String, _ subscription: Subscription?) -> SubscriptionEvent? {
        let key = RenewalChargeKey(
            subscriptionID: TransactionID(number: 1),
            period: 2,
            epoch: 1,
            attempt: 9
        )
        let current = TransactionID(number: 1)
        return switch name {
        case "e1/e8 bought": .purchaseCharged(purchase(silver, 50))
        case "e22 upgraded": .purchaseCharged(purchase(gold, 50, replacing: silver))
        case "e22 crossgraded": .purchaseCharged(purchase(silverTwin, 50, replacing: silver))
        case "e23 downgraded": .productScheduled(bronze)
        case "e23 to a year": .productScheduled(silverYear)
        case "e24 withdrawn": .scheduleWithdrawn
        case "e10 turned on": .autoRenewTurnedOn
        case "e9/e17 turned off": .autoRenewTurnedOff
        case "e7 charge asked": .chargeRequested(quote)
        case "e11/e14 charged": .chargeSucceeded(key, TransactionID(number: 50), capturedAt: now)
        case "e11 charge failed": .chargeFailed(key)
        case "S84 charge unknown": .chargeUnknown(key)
        case "e34/e36 refunded": .refunded(current, usd(999), revokes: true)
        case "e35 part refunded": .refunded(current, usd(100), revokes: false)
        case "e35 older refunded": .refunded(TransactionID(number: 9), usd(999), revokes: true)
        case "e37/e38 reversed": .refundReversed(current, usd(999), restores: true)
        case "e40 extended": .extended(RequestedExtension(id: "a", days: 3, reasonCode: 0))
        case "S121 price raised": .priceIncreaseScheduled(raise(.scheduled))
        case "e29 price asked": .priceIncreaseScheduled(raise(.pending))
        case "e30 price agreed": .priceIncreaseAnswered(nil, isAgreed: true)
        case "e33 price withdrawn": .priceIncreaseWithdrawn
        case "S502 price due": .due(.priceIncrease, quote)
        case "e20 not for sale": .ended(.productUnavailable)
        case "e21 ended": .ended(.unknown)
        case "S502 renewal due": .due(.renewalCharge, quote)
        case "S502 period over": .due(.periodEnd, quote)
        case "S502 grace over": .due(.graceEnd, quote)
        case "S502 retry due": .due(.retryCharge, quote)
        case "S502 retry over": .due(.retryEnd, quote)
        default: nil
        }
    }

    /// The result of an event in each state.
    ///
    /// It is the cause with the status after it, or why nothing changed. A dot is a stale action.
    private static let table = """
        event              | none              | active                   | off                      | grace                     | retry                     | expired                    | revoked
        e1/e8 bought       | purchased 1       | stray                    | stray                    | stray                     | stray                     | resubscribed 1             | resubscribed 1
        e22 upgraded       | purchased 1       | upgraded 1               | upgraded 1               | upgraded 1                | upgraded 1                | resubscribed 1             | resubscribed 1
        e22 crossgraded    | purchased 1       | upgraded 1               | upgraded 1               | upgraded 1                | upgraded 1                | resubscribed 1             | resubscribed 1
        e23 downgraded     | notSubscribed     | productScheduled 1       | productScheduled 1       | productScheduled 4        | productScheduled 3        | ended                      | ended
        e23 to a year      | notSubscribed     | productScheduled 1       | productScheduled 1       | productScheduled 4        | productScheduled 3        | ended                      | ended
        e24 withdrawn      | notSubscribed     | same                     | same                     | same                      | same                      | ended                      | ended
        e10 turned on      | notSubscribed     | same                     | autoRenewTurnedOn 1      | same                      | same                      | ended                      | ended
        e9/e17 turned off  | notSubscribed     | autoRenewTurnedOff 1     | same                     | cancelledUnpaid 2         | cancelledUnpaid 2         | ended                      | ended
        e7 charge asked    | notSubscribed     | nothingOwed              | nothingOwed              | charge 4                  | charge 3                  | ended                      | ended
        e11/e14 charged    | stray             | stray                    | stray                    | stray                     | stray                     | stray                      | stray
        e11 charge failed  | same              | same                     | same                     | same                      | same                      | same                       | same
        S84 charge unknown | same              | same                     | same                     | same                      | same                      | same                       | same
        e34/e36 refunded   | notSubscribed     | refunded 5               | refunded 5               | lastPeriodRefunded 2      | lastPeriodRefunded 2      | lastPeriodRefunded 2       | moneyRefunded 5
        e35 part refunded  | notSubscribed     | moneyRefunded 1          | moneyRefunded 1          | moneyRefunded 4           | moneyRefunded 3           | moneyRefunded 2            | moneyRefunded 5
        e35 older refunded | notSubscribed     | moneyRefunded 1          | moneyRefunded 1          | moneyRefunded 4           | moneyRefunded 3           | moneyRefunded 2            | moneyRefunded 5
        e37/e38 reversed   | notSubscribed     | refundReversed 1         | refundReversed 1         | refundReversed 4          | refundReversed 3          | refundReversed 2           | refundReversed 1
        e40 extended       | notSubscribed     | extended 1               | extended 1               | notExtendable             | notExtendable             | notExtendable              | notExtendable
        e20 not for sale   | notSubscribed     | productUnavailable 2     | productUnavailable 2     | productUnavailable 2      | productUnavailable 2      | ended                      | ended
        e21 ended          | notSubscribed     | ended 2                  | ended 2                  | ended 2                   | ended 2                   | ended                      | ended
        S121 price raised  | notSubscribed     | priceIncreaseScheduled 1 | priceIncreaseScheduled 1 | priceIncreaseScheduled 4  | priceIncreaseScheduled 3  | ended                      | ended
        e29 price asked    | notSubscribed     | priceIncreaseAsked 1     | notRenewing              | notRenewing               | notRenewing               | ended                      | ended
        e30 price agreed   | notSubscribed     | notAsked                 | notAsked                 | notAsked                  | notAsked                  | ended                      | ended
        e33 price withdrawn | notSubscribed    | same                     | same                     | same                      | same                      | ended                      | ended
        S502 price due     | .                 | .                        | .                        | .                         | .                         | .                          | .
        S502 renewal due   | .                 | .                        | .                        | .                         | .                         | .                          | .
        S502 period over   | .                 | .                        | .                        | .                         | .                         | .                          | .
        S502 grace over    | .                 | .                        | .                        | .                         | .                         | .                          | .
        S502 retry due     | .                 | .                        | .                        | .                         | .                         | .                          | .
        S502 retry over    | .                 | .                        | .                        | .                         | .                         | .                          | .
        """

    private static let rows = table.split(separator: "\n").dropFirst().map { line in
        line.split(separator: "|").map { $0.drop { $0 == " " } }.map { text in
            String(text.reversed().drop { $0 == " " }.reversed())
        }
    }

    private static func result(_ move: SubscriptionMove) -> String {
        switch move {
        case .unchanged: "same"
        case .stale: "."
        case .overdue(let action): "overdue \(action.kind)"
        case .stray: "stray"
        case .refused(let refusal): "\(refusal)"
        case .changed(let plan):
            "\(plan.cause?.rawValue ?? (plan.charge == nil ? "quiet" : "charge"))"
                + " \(plan.subscription.state.status ?? 0)"
        }
    }

    @Test func everyEventHasItsResultInEveryState() throws {
        var cells = 0
        for row in Self.rows {
            try #require(row.count == Column.allCases.count + 1, "\(row)")
            for (column, expected) in zip(Column.allCases, row.dropFirst()) {
                let subscription = try Self.subscription(column)
                let event = try #require(Self.event(row[0], subscription), "\(row[0])")
                let move = Self.machine.apply(event, at: Self.now, to: subscription)
                #expect(Self.result(move) == expected, "\(row[0]) in \(column)")
                cells += 1
            }
        }
        #expect(cells == 29 * 7)
    }

    /// A due action of each kind, carried out in its time and in no other state.
    @Test(arguments: [
        ("e11 before the end", Column.active, DueAction.Kind.renewalCharge, "charge 1"),
        ("e12 without an end", .grace, .retryCharge, "charge 4"),
        ("e15", .grace, .graceEnd, "gracePeriodEnded 3"),
        ("e14", .retry, .retryCharge, "charge 3"),
        ("e16", .retry, .retryEnd, "billingRetryEnded 2"),
        ("e18", .off, .periodEnd, "expired 2"),
    ])
    private func aDueActionHasItsEffect(
        rule: String,
        column: Column,
        kind: DueAction.Kind,
        expected: String
    ) throws {
        var subscription = try #require(try Self.subscription(column))
        while let next = Self.machine.dueActions.next(for: subscription), next.kind != kind {
            let move = Self.machine.apply(
                .due(next.kind, Self.quote),
                at: next.time,
                to: subscription
            )
            let charge = try #require(move.plan?.charge, "\(rule)")
            subscription = try #require(
                Self.machine.apply(
                    .chargeFailed(charge.key),
                    at: next.time,
                    to: move.plan?.subscription
                )
                .plan?.subscription
            )
        }
        let next = try #require(Self.machine.dueActions.next(for: subscription))
        let early = StoreTime(millisecondsSinceEpoch: next.time.millisecondsSinceEpoch - 1)
        let due = SubscriptionEvent.due(kind, Self.quote)
        #expect(Self.machine.apply(due, at: early, to: subscription) == .stale, "\(rule)")
        for other in DueAction.Kind.allCases where other != kind {
            let move = Self.machine.apply(
                .due(other, Self.quote),
                at: next.time,
                to: subscription
            )
            #expect(move == .stale, "\(rule): \(other)")
        }
        let move = Self.machine.apply(due, at: next.time, to: subscription)
        #expect(Self.result(move) == expected, "\(rule)")
    }

    /// e13 and e12.
    @Test func anUnpaidEndLeadsToBillingRetryOrToGrace() throws {
        for (grace, cause) in [
            (nil, SubscriptionCause.billingRetryBegan), (Duration.days(3), .gracePeriodBegan),
        ] {
            var story = StoryTeller(policy(grace: grace))
            story.buy(silver, at("2026-01-01"))
            for _ in 1...5 { try story.carryOut(charging: false) }
            #expect(story.changes.last?.cause == cause)
        }
    }

    /// S85.
    @Test func graceOfAWeeklyProductIsSixDaysAndAFreePeriodMayHaveNone() throws {
        var scoped = policy(grace: .days(28))
        scoped.graceScope = .paidToPaidOnly
        let week = SubscriptionPeriod(1, .week)
        for (product, policy, state) in [
            (plan("weekly", level: 1, week, price: 199), policy(grace: .days(28)), "2026-01-14"),
            (plan("free", level: 1, price: 0), scoped, "none"),
            (plan("paid", level: 1, price: 100), scoped, "2026-03-01"),
        ] {
            var story = StoryTeller(policy)
            story.buy(product, at("2026-01-01"))
            for _ in 1...5 { try story.carryOut(charging: false) }
            let end = story.subscription?.gracePeriodEnd
            #expect(end.map { String($0.description.prefix(10)) } ?? "none" == state)
        }
    }

    /// e20.
    @Test func aProductThatIsNotRenewedAnyMoreEndsWithItsPeriod() throws {
        var story = StoryTeller()
        story.buy(silver, at("2026-01-01"))
        for _ in 1...4 { try story.carryOut(quote: nil) }
        #expect(story.subscription?.state == .active)
        try story.carryOut(quote: nil)
        #expect(story.subscription?.expirationIntent == .productUnavailable)
        #expect(story.notifications.last == "EXPIRED/PRODUCT_NOT_FOR_SALE")
    }

    /// e38.
    @Test func aRefundReversedAfterThePeriodLeavesItExpired() throws {
        let revoked = try Self.subscription(.revoked)
        let move = Self.machine.apply(
            .refundReversed(TransactionID(number: 1), usd(999), restores: true),
            at: at("2026-03-01"),
            to: revoked
        )
        #expect(Self.result(move) == "refundReversed 2")
        #expect(move.plan?.subscription.expirationIntent == .autoRenewDisabled)
    }

    /// S134.
    @Test func theReversedRefundOfAnOlderPeriodBringsNothingBack() throws {
        let revoked = try #require(try Self.subscription(.revoked))
        let move = Self.machine.apply(
            .refundReversed(TransactionID(number: 9), usd(999), restores: true),
            at: Self.now,
            to: revoked
        )
        #expect(Self.result(move) == "refundReversed 5")
        #expect(move.plan?.subscription.period == revoked.period)
    }

    /// S134.
    @Test func aRefundThatIsReversedAfterAResubscriptionIsMoneyOnly() throws {
        let revoked = try Self.subscription(.revoked)
        let bought = Self.machine.apply(
            .purchaseCharged(purchase(silver, 50)),
            at: Self.now,
            to: revoked
        )
        let before = try #require(bought.plan?.subscription)
        let move = Self.machine.apply(
            .refundReversed(TransactionID(number: 1), usd(999), restores: true),
            at: Self.now,
            to: before
        )
        #expect(move.plan?.subscription.period == before.period)
        #expect(move.plan?.changedPeriods == [])
    }
}
