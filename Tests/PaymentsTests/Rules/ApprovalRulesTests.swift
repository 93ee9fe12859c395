import EventTypes
import Ledger
import StoreAPI
import Testing
import TestSupport

@testable import Payments

@Suite struct ApprovalRulesTests {
    func verdict(
        _ decision: ApprovalRequest.Decision,
        _ state: TransactionState,
        _ earlier: ApprovalRequest.Decision? = nil
    ) -> ApprovalRules.Verdict {
        ApprovalRules.verdict(
            on: decision,
            for: TransactionRecord(
                transaction: transaction(state),
                approval: earlier,
                taxBasisPoints: 0
            )
        )
    }

    @Test func theFirstWordOnADeferredTransactionCounts() {
        #expect(verdict(.approve, .deferred) == .accepted)
        #expect(verdict(.decline, .deferred) == .accepted)
    }

    @Test(arguments: [TransactionState.deferred, .purchased, .failed])
    func theSameWordAgainIsAnsweredTheSameWhateverHasBecomeOfIt(state: TransactionState) {
        #expect(verdict(.approve, state, .approve) == .repeated)
        #expect(verdict(.decline, state, .decline) == .repeated)
    }

    @Test func theOppositeIsRefused() {
        #expect(verdict(.decline, .deferred, .approve) == .refused(.decidedOtherwise))
        #expect(verdict(.approve, .failed, .decline) == .refused(.decidedOtherwise))
    }

    @Test(arguments: [TransactionState.purchasing, .purchased, .failed, .restored])
    func whatNobodyAskedAboutCannotBeApproved(state: TransactionState) {
        #expect(verdict(.approve, state) == .refused(.notDeferred))
    }
}
