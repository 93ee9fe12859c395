import Testing

@testable import Messaging

@Suite struct UnsettledEventsTests {
    private let start = ContinuousClock.now

    @Test func theFirstLooksFollowEachOtherQuickly() {
        var events = UnsettledEvents()
        #expect(events.wait(at: start) == .milliseconds(2))
        #expect(events.wait(at: start + .milliseconds(8)) == .milliseconds(2))
    }

    @Test func theWaitsGrowWithTheTimeThatHasPassed() {
        var events = UnsettledEvents()
        _ = events.wait(at: start)
        #expect(events.wait(at: start + .milliseconds(40)) == .milliseconds(10))
        #expect(events.wait(at: start + .seconds(60)) == .milliseconds(20))
    }

    @Test func settledEventsEndTheWait() {
        var events = UnsettledEvents()
        _ = events.wait(at: start)
        events.settle()
        #expect(events.wait(at: start + .seconds(60)) == .milliseconds(2))
    }
}
