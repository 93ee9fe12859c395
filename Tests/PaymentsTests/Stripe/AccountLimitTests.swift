import EventTypes
import ServiceKit
import TestSupport
import Testing

@testable import Payments

/// The requests of an account that need a call of the processor.
@Suite struct AccountLimitTests {
    private let account = alice.accountKey
    private let other = bob.accountKey

    @Test func anAccountThatAsksTooOftenWaitsAndNobodyElse() throws {
        let limit = AccountLimit(callsMax: 2)
        let now = startTime.onMachines
        for _ in 0..<2 { try limit.count(account, at: now) }
        #expect(throws: HTTPProblem.self) { try limit.count(account, at: now) }
        try limit.count(other, at: now)
        try limit.count(account, at: now.advanced(by: AccountLimit.window))
    }
}
