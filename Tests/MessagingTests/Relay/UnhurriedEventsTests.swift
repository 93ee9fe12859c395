import EventTypes
import Testing

@testable import Messaging

@Suite struct UnhurriedEventsTests {
    private let start = ContinuousClock.now
    private let begun = Topics.paymentsPurchasing.name
    private let charged = Topics.paymentsTransactions.name

    private func unhurriedEvents() -> UnhurriedEvents {
        UnhurriedEvents(of: [Topics.paymentsTransactions, Topics.paymentsPurchasing])
    }

    @Test func acceptedPaymentsWaitForTheirResults() {
        var events = unhurriedEvents()
        #expect(events.wait(of: [begun], at: start) == .milliseconds(20))
        let later = start + .milliseconds(5)
        #expect(events.wait(of: [begun, begun], at: later) == .milliseconds(15))
        #expect(events.wait(of: [begun, begun, charged], at: later) == nil)
    }

    @Test func theyWaitNoLongerThanTwentyMilliseconds() {
        var events = unhurriedEvents()
        #expect(events.wait(of: [begun], at: start) == .milliseconds(20))
        #expect(events.wait(of: [begun], at: start + .milliseconds(20)) == nil)
        // The next ones wait on their own account.
        let later = start + .milliseconds(21)
        #expect(events.wait(of: [begun], at: later) == .milliseconds(20))
    }

    @Test func allOtherEventsArePublishedAtOnce() {
        var events = unhurriedEvents()
        #expect(events.wait(of: [charged], at: start) == nil)
        // A dead letter's topic is none of the service's own.
        #expect(events.wait(of: ["catalog.products.dead-letters"], at: start) == nil)
    }
}
