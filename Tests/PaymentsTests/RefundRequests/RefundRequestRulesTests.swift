import EventTypes
import StoreAPI
import Testing

@testable import Payments

@Suite struct RefundRequestRulesTests {
    private let key = IdempotencyKey(unchecked: "k")
    private let act = Act(
        decidedBy: AdministratorName(unchecked: "mia"),
        reason: ActReason(rawValue: "damaged")
    )

    private func refund(
        _ number: Int,
        _ amount: Int64,
        _ step: AttemptStep,
        revokes: Bool = false
    ) -> ProcessorAttempt {
        ProcessorAttempt(
            transactionID: TransactionID(number: 7),
            kind: .refund,
            number: number,
            id: IDSource.random.attempt(at: startTime),
            step: step,
            paymentMethod: "",
            amount: usd(amount),
            revokes: revokes
        )
    }

    private func record(
        _ state: RequestedRefund.State = .open,
        number: Int = 1,
        refund: Int? = nil,
        key: String = "before"
    ) -> RefundRequestRecord {
        var request = RequestedRefund(
            number: number,
            of: transaction(.purchased),
            because: .unsatisfied,
            at: startTime
        )
        request.state = state
        request.refundNumber = refund
        return RefundRequestRecord(request: request, key: IdempotencyKey(unchecked: key))
    }

    private func asking(
        _ transaction: Transaction = transaction(.purchased),
        with attempts: [ProcessorAttempt] = [],
        after earlier: [RefundRequestRecord] = [],
        because reason: RefundReason = .unsatisfied
    ) -> RefundRequestRules.Asking {
        RefundRequestRules.asking(
            because: reason,
            under: key,
            for: transaction,
            with: attempts,
            after: earlier,
            at: startTime
        )
    }

    private func deciding(
        _ decision: RefundDecision,
        on record: RefundRequestRecord,
        with attempts: [ProcessorAttempt] = [],
        by act: Act? = nil
    ) -> RefundRequestRules.Deciding {
        RefundRequestRules.deciding(
            decision,
            on: record,
            of: transaction(.purchased),
            with: attempts,
            by: act ?? self.act,
            at: startTime
        )
    }

    @Test func anApprovalLeavesTheConsumablesThatTheStoreLeaves() {
        let verdict = RefundRequestRules.deciding(
            .approve(amount: nil, revokes: nil),
            on: record(),
            of: transaction(.purchased),
            with: [],
            by: act,
            leavingConsumables: true,
            at: startTime
        )
        guard case .approved(_, let refund?) = verdict else { return #expect(Bool(false)) }
        #expect(refund.amount == usd(999) && !refund.revokes)
    }

    @Test func aPurchaseHasOneOpenRequest() {
        #expect(asking() == .accepted(record().request))
        #expect(asking(after: [record()]) == .refused(.alreadyOpen))
        guard case .accepted(let second) = asking(after: [record(.declined)]) else {
            return #expect(Bool(false), "A buyer may ask again after a decision.")
        }
        #expect(second.number == 2)
    }

    @Test func aRepeatedRequestHasTheSameAnswer() {
        let first = record(key: "k")
        #expect(asking(after: [first]) == .repeated(first.request))
        #expect(asking(after: [first], because: .legal) == .refused(.keyReused))
    }

    @Test func whatGaveTheStoreNoMoneyIsNotRefunded() {
        #expect(asking(transaction(.failed)) == .refused(.transaction(.notPurchased)))
        #expect(asking(transaction(.purchased, price: usd(0))) == .refused(.nothingToRefund))
        #expect(asking(with: [refund(1, 999, .calling)]) == .refused(.nothingToRefund))
        var copy = transaction(.purchased)
        copy.reason = .ownedAgain
        #expect(asking(copy) == .refused(.transaction(.isCopy)))
    }

    @Test func thereAreAtMostTenRequests() {
        let earlier = (1...10).map { record(.declined, number: $0, key: "\($0)") }
        #expect(asking(after: Array(earlier.dropLast())) != .refused(.tooMany(max: 10)))
        #expect(asking(after: earlier) == .refused(.tooMany(max: 10)))
    }

    @Test func theFirstDecisionCounts() {
        let approve = RefundDecision.approve(amount: nil, revokes: nil)
        #expect(deciding(approve, on: record(.declined)) == .refused(.decidedOtherwise))
        #expect(deciding(.decline, on: record(.declined)) == .repeated)
        let approved = record(.approved, refund: 1)
        let made = refund(1, 500, .settled)
        #expect(deciding(.decline, on: approved, with: [made]) == .refused(.decidedOtherwise))
        let same = RefundDecision.approve(amount: usd(500), revokes: nil)
        #expect(deciding(same, on: approved, with: [made]) == .repeated)
        let more = RefundDecision.approve(amount: usd(600), revokes: nil)
        #expect(deciding(more, on: approved, with: [made]) == .refused(.decidedOtherwise))
        #expect(
            deciding(approve, on: approved, with: [made]) == .refused(.decidedOtherwise),
            "A part was approved, not the rest."
        )
        #expect(deciding(approve, on: approved, with: [refund(1, 999, .settled)]) == .repeated)
    }

    @Test func anApprovalThatSaysOtherwiseOfTheProductIsNoRepetition() {
        let approved = record(.approved, refund: 1)
        let made = [refund(1, 999, .settled, revokes: true)]
        let keep = RefundDecision.approve(amount: nil, revokes: false)
        #expect(deciding(keep, on: approved, with: made) == .refused(.decidedOtherwise))
        let revoke = RefundDecision.approve(amount: nil, revokes: true)
        #expect(deciding(revoke, on: approved, with: made) == .repeated)
    }

    @Test func aPartIsNotTriedAgainOnceAnotherRefundWasMade() {
        let part = RefundDecision.approve(amount: usd(400), revokes: nil)
        let approved = record(.approved, refund: 1)
        let failed = refund(1, 400, .failed)
        for step in [AttemptStep.calling, .settled] {
            let attempts = [failed, refund(2, 400, step)]
            #expect(
                deciding(part, on: approved, with: attempts) == .refused(.decidedOtherwise)
            )
        }
        let attempts = [failed, refund(2, 400, .failed)]
        guard case .approved(_, let plan?) = deciding(part, on: approved, with: attempts) else {
            return #expect(Bool(false), "It is not tried again.")
        }
        #expect(plan.number == 3 && plan.amount == usd(400))
    }

    @Test func aRefundThatFailedAtOnceOrLaterIsApprovedAgain() {
        let approve = RefundDecision.approve(amount: nil, revokes: nil)
        var later = refund(1, 999, .settled)
        (later.reference, later.failedReference) = ("re_1", "re_1")
        for made in [refund(1, 999, .failed), later] {
            let verdict = deciding(approve, on: record(.approved, refund: 1), with: [made])
            guard case .approved(let request, let plan?) = verdict else {
                return #expect(Bool(false), "Nothing is refunded: \(verdict)")
            }
            #expect(request.refundNumber == 2 && plan.amount == usd(999))
        }
    }

    @Test func anApprovalJoinsARefundThatIsUnderWay() {
        let approve = RefundDecision.approve(amount: nil, revokes: nil)
        let verdict = deciding(approve, on: record(), with: [refund(1, 999, .calling)])
        guard case .approved(let request, nil) = verdict else {
            return #expect(Bool(false), "A second refund is planned: \(verdict)")
        }
        #expect(request.refundNumber == 1)
    }

    @Test func itIsDeclinedWithAReasonAndNotOnceTheMoneyIsBack() {
        let silent = Act(decidedBy: AdministratorName(unchecked: "mia"))
        #expect(deciding(.decline, on: record(), by: silent) == .refused(.reasonMissing))
        #expect(
            deciding(.decline, on: record(), with: [refund(1, 999, .calling)])
                == .refused(.alreadyRefunded)
        )
        guard case .declined(let request) = deciding(.decline, on: record()) else {
            return #expect(Bool(false))
        }
        #expect(request.state == .declined && request.decidedAt == startTime)
    }

    @Test func anAmountThatIsTooLargeIsRefused() {
        let verdict = deciding(.approve(amount: usd(1000), revokes: nil), on: record())
        #expect(verdict == .refused(.transaction(.refundTooLarge(rest: usd(999)))))
    }

    @Test func aPlaceIsReadAsItWasWritten() {
        let place = RefundRequestPlace(of: record(number: 3).request)
        #expect(RefundRequestPlace(place.text) == place)
        for text in ["", "1-2", "1-2-x", "x-7-1", "1-07x-1", "1-7-1-1"] {
            #expect(RefundRequestPlace(text) == nil, "\(text)")
        }
    }
}
