import EventTypes
import ServiceKit
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// The age of tokens that restore (spec rule 69).
@Suite struct RestoreRulesTests {
    @Test(arguments: [(0, true), (299_999, true), (300_000, true), (300_001, false)])
    func aTokenIsFreshForAWhile(age: Int64, isFresh: Bool) {
        let now = startTime.onMachines.advanced(by: .milliseconds(age))
        #expect(
            RestoreRules.isFresh(issuedAt: startTime.onMachines, now: now, ageMax: .seconds(300))
                == isFresh
        )
    }

    @Test func aTokenThatDoesNotSayWhenItWasIssuedIsNotFresh() {
        #expect(
            !RestoreRules.isFresh(issuedAt: nil, now: startTime.onMachines, ageMax: .seconds(300))
        )
    }

    @Test func theSignersClockMayBeAhead() {
        let now = startTime.onMachines.advanced(by: .seconds(-60))
        #expect(
            RestoreRules.isFresh(issuedAt: startTime.onMachines, now: now, ageMax: .seconds(300))
        )
    }

    @Test func theProblemSaysWhatToDo() {
        let problem = HTTPProblem.freshAuthenticationRequired(ageMax: .seconds(300)).problem
        #expect(problem.status == 401 && problem.code == "fresh_authentication_required")
        #expect(problem.detail.contains("300 seconds") && problem.detail.contains("new token"))
    }
}
