import EventTypes
import StoreAPI
import Testing

@testable import Payments

/// Refunds that are made and refunds that are refused, without a database.
@Suite struct RefundRulesTests {
    private func attempt(
        _ number: Int,
        _ amount: Int64,
        _ step: AttemptStep = .calling,
        kind: AttemptKind = .refund
    ) -> ProcessorAttempt {
        ProcessorAttempt(
            transactionID: TransactionID(number: 7),
            kind: kind,
            number: number,
            id: IDSource.random.attempt(at: startTime),
            step: step,
            paymentMethod: "",
            amount: usd(amount)
        )
    }

    private func refunded(
        _ amounts: Int64...,
        reversedAt: StoreTime? = nil,
        price: Money = usd(999)
    ) -> Transaction {
        var transaction = transaction(.purchased, price: price)
        transaction.refunds = amounts.enumerated().map { index, amount in
            Refund(
                number: index + 1,
                amount: usd(amount),
                refundedAt: startTime,
                revokes: false,
                reversedAt: reversedAt
            )
        }
        return transaction
    }

    private func verdict(
        _ amount: Money?,
        revokes: Bool? = nil,
        of transaction: Transaction,
        with attempts: [ProcessorAttempt] = []
    ) -> RefundRules.Verdict<RefundPlan> {
        RefundRules.verdict(
            on: RefundTerms(amount: amount, revokes: revokes),
            after: nil,
            for: transaction,
            with: attempts
        )
    }

    @Test func withoutAnAmountTheRestIsRefundedAndTheProductTakenAway() {
        #expect(
            verdict(nil, of: refunded(100))
                == .accepted(RefundPlan(number: 2, amount: usd(899), revokes: true))
        )
        #expect(
            verdict(nil, revokes: false, of: refunded(100))
                == .accepted(RefundPlan(number: 2, amount: usd(899), revokes: false))
        )
        #expect(
            verdict(usd(99), of: refunded(100))
                == .accepted(RefundPlan(number: 2, amount: usd(99), revokes: false))
        )
    }

    @Test func aStoreMayLeaveConsumablesWithTheirBuyers() {
        func plan(_ terms: RefundTerms, of transaction: Transaction) -> RefundPlan? {
            let verdict = RefundRules.verdict(
                on: terms,
                after: nil,
                for: transaction,
                with: []
            )
            guard case .accepted(let plan) = verdict else { return nil }
            return plan
        }
        let coins = transaction(.purchased)
        let left = plan(RefundTerms(leavesConsumables: true), of: coins)
        #expect(left == RefundPlan(number: 1, amount: usd(999), revokes: false))
        let taken = RefundTerms(revokes: true, leavesConsumables: true)
        #expect(plan(taken, of: coins)?.revokes == true)
        // What cost nothing is given back by taking it away.
        let free = transaction(.purchased, price: usd(0))
        for other in [free, transaction(.purchased, type: .nonConsumable)] {
            #expect(plan(RefundTerms(leavesConsumables: true), of: other)?.revokes == true)
        }
    }

    @Test func aReversedRefundCanBeRefundedAgain() {
        #expect(
            verdict(nil, of: refunded(999, reversedAt: startTime))
                == .accepted(RefundPlan(number: 2, amount: usd(999), revokes: true))
        )
    }

    @Test func badAmountsAreRefused() {
        let bought = transaction(.purchased)
        let euros = Money(minorUnits: 1, currency: Currency(unchecked: "EUR"))
        #expect(verdict(euros, of: bought) == .refused(.refundInOtherCurrency))
        for amount in [Int64(0), -1, .min] {
            #expect(verdict(usd(amount), of: bought) == .refused(.refundNotPositive))
        }
        for amount in [Int64(1000), .max] {
            #expect(
                verdict(usd(amount), of: bought) == .refused(.refundTooLarge(rest: usd(999)))
            )
        }
    }

    @Test func anUnconfirmedRefundCountsAsRefunded() {
        let bought = refunded(100)
        let attempts = [attempt(1, 100, .settled), attempt(2, 800)]
        #expect(
            verdict(usd(100), of: bought, with: attempts)
                == .refused(
                    .refundTooLarge(rest: usd(99))
                )
        )
        #expect(
            verdict(nil, of: bought, with: attempts)
                == .accepted(RefundPlan(number: 3, amount: usd(99), revokes: true))
        )
        #expect(
            verdict(nil, of: bought, with: attempts + [attempt(3, 99)])
                == .pending(attempt(3, 99).key)
        )
    }

    @Test func aKeyThatJoinedARefundHasItsOutcome() {
        let key = UsedKey(idempotencyKey: IdempotencyKey(unchecked: "k"), fingerprint: [])
        func joined(_ step: AttemptStep) -> RefundRules.Verdict<RefundPlan> {
            RefundRules.verdict(
                on: RefundTerms(key: key),
                after: EarlierRefundRequest(key: key, pending: 1),
                for: refunded(),
                with: [attempt(1, 999, step)]
            )
        }
        #expect(joined(.processing) == .pending(attempt(1, 999).key))
        #expect(joined(.settled) == .done)
        #expect(joined(.failed) == .refused(.refundFailed(number: 1)))
    }

    @Test(arguments: [TransactionState.purchasing, .deferred, .failed, .restored])
    func onlyAPurchaseIsRefunded(state: TransactionState) {
        #expect(verdict(nil, of: transaction(state)) == .refused(.notPurchased))
        #expect(
            RefundRules.verdict(onReversing: 1, of: transaction(state), with: [])
                == .refused(.notPurchased)
        )
    }

    @Test func thereAreAtMostFiftyRefunds() {
        var bought = transaction(.purchased)
        bought.refunds = (1...50).map {
            Refund(number: $0, amount: usd(1), refundedAt: startTime, revokes: false)
        }
        #expect(verdict(usd(1), of: bought) == .refused(.tooManyRefunds(max: 50)))
        bought.refunds?.removeLast()
        #expect(
            verdict(usd(1), of: bought)
                == .accepted(RefundPlan(number: 50, amount: usd(1), revokes: false))
        )
    }

    @Test func onlyAConfirmedRefundIsReversedAndOnlyOnce() {
        func reversal(
            _ number: Int,
            of transaction: Transaction,
            _ attempts: ProcessorAttempt...
        ) -> RefundRules.Verdict<Refund> {
            RefundRules.verdict(onReversing: number, of: transaction, with: attempts)
        }
        let bought = refunded(100)
        #expect(reversal(2, of: bought) == .refused(.refundUnknown(number: 2)))
        #expect(
            reversal(2, of: bought, attempt(2, 5)) == .refused(.refundNotSettled(number: 2))
        )
        #expect(reversal(1, of: refunded(100, reversedAt: startTime)) == .done)
        let begun = attempt(1, 100, kind: .reversal)
        #expect(reversal(1, of: bought, begun) == .pending(begun.key))
        #expect(
            reversal(1, of: bought)
                == .accepted(
                    bought.refunds?[0]
                        ?? Refund(
                            number: 0,
                            amount: usd(0),
                            refundedAt: startTime,
                            revokes: false
                        )
                )
        )
    }
}
