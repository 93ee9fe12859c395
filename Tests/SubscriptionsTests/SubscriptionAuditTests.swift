import EventTypes
import Subscriptions
import Testing

/// Each invariant is broken once by hand, and the audit names it.
@Suite struct SubscriptionAuditTests {
    private static let now = at("2026-06-15")

    /// A subscription that renewed, was upgraded, recovered without grace, and runs.
    private func history() throws -> SubscriptionHistory {
        var world = SubscriptionWorld(policy())
        let step: [SubscriptionWorld.Step] = [.scheduler(all: false), .answer(0, .captured)]
        world.take(.choose(1))
        world.take(.answer(0, .captured))
        world.take(.wait(hours: 24 * 27))
        step.forEach { world.take($0) }
        world.take(.wait(hours: 24 * 14))
        world.take(.choose(0))
        world.take(.answer(0, .captured))
        world.take(.wait(hours: 24 * 31))
        for _ in 1...2 {
            world.take(.scheduler(all: false))
            world.take(.answer(0, .failed))
        }
        world.take(.scheduler(all: false))
        world.take(.wait(hours: 24))
        step.forEach { world.take($0) }
        let history = try #require(world.history)
        #expect(
            history.changes.map(\.cause) == [
                .purchased, .renewed, .upgraded, .billingRetryBegan, .recovered,
            ]
        )
        return history
    }

    private func invariants(
        _ change: (inout SubscriptionHistory) -> Void = { _ in }
    ) throws -> Set<Int> {
        var history = try history()
        change(&history)
        let audit = SubscriptionAudit(policy: policy())
        let time = history.changes.last?.time ?? Self.now
        return Set(audit.findings(in: [history], at: time).map(\.invariant.rawValue))
    }

    @Test func whatIsRightHasNoFindings() throws { #expect(try invariants() == []) }

    @Test func twoPeriodsThatOverlap() throws {
        let found = try invariants { history in
            history.changes[2].changedPeriods[0].earlyEnd = nil
            for index in 2...3 {
                history.changes[index].subscription.earlierPeriod?.earlyEnd = nil
            }
        }
        #expect(found.contains(1))
    }

    @Test func aGapThatNothingExplains() throws {
        // The recovery says that it happened an hour later than its period began.
        let found = try invariants { history in
            history.changes[4].time = history.changes[4].time.advanced(by: .hours(1))
        }
        #expect(found == [2])
    }

    @Test func chargesThatAreMissingTwofoldOrForNothing() throws {
        #expect(try invariants { $0.captures.removeLast() } == [3])
        #expect(try invariants { $0.captures.append($0.captures[0]) } == [3])
        let nothing = SubscriptionHistory.Capture(transactionID: nil, amount: usd(1))
        #expect(try invariants { $0.captures.append(nothing) } == [3])
        #expect(try invariants { $0.captures[1].amount = usd(998) } == [3])
        #expect(try invariants { $0.captures[1].isReturned = true } == [3])
    }

    @Test func refundsThatAreTooLargeOrWrong() throws {
        let id = TransactionID(number: 1)
        let refund = SubscriptionHistory.Refund(transactionID: id, amount: usd(1000))
        #expect(try invariants { $0.refunds.append(refund) } == [4])
        let wrong = try invariants { $0.changes[2].refunds[0].amount = usd(1) }
        #expect(wrong == [4])
    }

    @Test func aRefundThatIsNotTheOneThatIsDueIsNamedWithItsAmounts() throws {
        var history = try history()
        let owed = try #require(history.changes[2].refunds.first)
        history.changes[2].refunds = []
        history.changes[2].changedPeriods[0].refunded = usd(0)
        let audit = SubscriptionAudit(policy: policy())
        let found = audit.findings(in: history, at: Self.now).compactMap(\.refund)
        let missing = AuditFinding.PeriodRefund(
            transactionID: owed.transactionID,
            refunded: 0,
            due: owed.amount.minorUnits
        )
        #expect(found == [missing])
    }

    @Test func changesThatDoNotFollow() throws {
        #expect(try invariants { $0.changes[3].cause = .renewed }.contains(5))
        #expect(try invariants { $0.changes.remove(at: 1) }.contains(5))
        #expect(try invariants { $0.subscription.recentStart = Self.now } == [5])
        #expect(try invariants { $0.changes[3].subscription.expirationIntent = nil } == [5])
    }

    @Test func aStateThatItsDatesContradict() throws {
        var history = try history()
        history.subscription.period.end = at("2026-01-01")
        history.subscription.autoRenewOffReason = .customer
        history.actions = []
        let audit = SubscriptionAudit(policy: policy())
        let found = audit.findings(in: [history], at: Self.now).map(\.invariant)
        #expect(found.contains(.stateFollowsFromChanges))
    }

    @Test func anEndThatIsNotCounted() throws {
        let found = try invariants { history in
            let end = history.changes[4].subscription.period.end.advanced(by: .days(1))
            history.changes[4].subscription.period.end = end
            history.changes[4].newPeriod?.end = end
            history.subscription.period.end = end
            history.entitlementEnd = end
            let rules = DueActionRules(policy: policy())
            history.actions = [rules.next(for: history.subscription)].compactMap(\.self)
        }
        #expect(found == [6])
    }

    @Test func dueActionsAndChargesThatAreMissingOrTooMany() throws {
        #expect(try invariants { $0.actions = [] } == [7])
        #expect(try invariants { $0.actions.append($0.actions[0]) } == [7])
        let key = RenewalChargeKey(
            subscriptionID: TransactionID(number: 1),
            period: 1,
            epoch: 1,
            attempt: 1
        )
        #expect(try invariants { $0.openCharges = [key] } == [7])
    }

    /// A version that spread charges over 72 steps has written it.
    @Test func aFirstChargeMayBeAnywhereInItsStep() throws {
        var spread = policy()
        spread.spread = .hours(6)
        var history = try history()
        let next = try #require(DueActionRules(policy: spread).next(for: history.subscription))
        #expect(next.kind == .renewalCharge)
        for (minutes, isNamed) in [(0, false), (14, false), (15, true), (-1, true)] {
            history.actions = [next]
            history.actions[0].time = next.time.advanced(by: .seconds(minutes * 60))
            let time = history.changes.last?.time ?? Self.now
            let found = SubscriptionAudit(policy: spread).findings(in: history, at: time)
            #expect(
                found.contains(where: { $0.invariant == .oneDueAction }) == isNamed,
                "\(minutes)"
            )
        }
    }

    @Test func notificationsThatAreMissingTwofoldOrOutOfOrder() throws {
        #expect(try invariants { _ = $0.sent?.removeLast() } == [9])
        let first = try history().sent?.first
        #expect(try invariants { $0.sent?.append(contentsOf: [first].compactMap(\.self)) } == [9])
        #expect(try invariants { $0.sent?.swapAt(0, 1) } == [9])
    }

    @Test func anOfferThatIsUsedTwiceOrOutOfOrder() throws {
        let offer = introductory(.payAsYouGo, silver.terms.period, 2, price: 999)
        // The renewal has the first period of an offer, or a second without a first.
        for renewal in [offer, offer.next] {
            let found = try invariants { history in
                history.changes[1].newPeriod?.offer = renewal
                history.changes[1].subscription.period.offer = renewal
                history.changes[2].changedPeriods[0].offer = renewal
                for index in 2...3 {
                    history.changes[index].subscription.earlierPeriod?.offer = renewal
                }
            }
            #expect(found == [8])
        }
    }

    @Test func anIntroductoryOfferThatTheStoreHasNotNoted() throws {
        let id = TransactionID(number: 1)
        #expect(try invariants { $0.introductions = [] } == [])
        #expect(try invariants { $0.introductions = [id] } == [8])
        #expect(
            try invariants { history in
                history.introductions = []
                history.introducedBy = id
            } == [8]
        )
    }

    @Test func anEntitlementThatEndsAtAnotherTime() throws {
        #expect(try invariants { $0.entitlementEnd = Self.now } == [10])
    }

    @Test func aPriceThatTheBuyerNeverLearnedOf() throws {
        let found = try invariants { history in
            history.changes[0].subscription.period.product.price = usd(998)
        }
        #expect(found.contains(12))
    }

    @Test func twoRunningSubscriptionsInOneGroup() throws {
        let first = try history()
        var second = first
        second.subscription.id = TransactionID(number: 77)
        let audit = SubscriptionAudit(policy: policy())
        let time = try #require(first.changes.last?.time)
        let found = audit.findings(in: [first, second], at: time).map(\.invariant)
        #expect(found.contains(.oneRunning))
    }

    @Test func billingRetryThatIsTooLong() throws {
        let found = try invariants { history in
            let end = history.changes[3].subscription.billingRetryEnd
            history.changes[3].subscription.billingRetryEnd = end?.advanced(by: .seconds(1))
        }
        #expect(found == [14])
    }

    @Test func invariantsHaveTheNumbersOfTheDocument() {
        #expect(SubscriptionInvariant.allCases.map(\.rawValue) == Array(1...15))
    }
}
