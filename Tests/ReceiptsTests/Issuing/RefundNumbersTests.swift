import EventTypes
import Testing

@testable import Receipts

@Suite struct RefundNumbersTests {
    private func numbers(_ refunds: [Refund]) -> RefundNumbers {
        RefundNumbers(of: purchased(refunds: refunds))
    }

    @Test func aRefundIsNewsOnce() {
        let first = numbers([.sample(1, 100)])
        #expect(first.refunds(since: RefundNumbers()) == [1])
        #expect(first.refunds(since: first).isEmpty)
        #expect(numbers([.sample(1, 100), .sample(3, 5)]).refunds(since: first) == [3])
    }

    @Test func aReversalIsNewsOnceAndItsRefundIsNotNewsAgain() {
        let reversed = numbers([.sample(1, 100, isReversed: true)])
        #expect(reversed.refunds(since: numbers([.sample(1, 100)])).isEmpty)
        #expect(reversed.reversals(since: numbers([.sample(1, 100)])) == [1])
        #expect(reversed.reversals(since: reversed).isEmpty)
        #expect(reversed.refunds(since: reversed).isEmpty)
    }

    @Test func aRefundThatIsMetReversedIsBothNews() {
        let reversed = numbers([.sample(2, 100, isReversed: true)])
        #expect(reversed.refunds(since: RefundNumbers()) == [2])
        #expect(reversed.reversals(since: RefundNumbers()) == [2])
    }

    @Test func aTransactionWithoutRefundsHasNoNumbers() {
        #expect(RefundNumbers(of: purchased()) == RefundNumbers())
    }
}
