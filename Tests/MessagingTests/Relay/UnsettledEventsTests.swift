import Testing

@testable import Messaging

@Suite struct UnsettledEventsTests {
    private let start = ContinuousClock.now

    @Test func theFirstLooksFollowEachOtherQuickly() {
        var events = UnsettledEvents()
        #expect(events.wait(at: start).upperBound == .milliseconds(2))
        #expect(events.wait(at: start + .milliseconds(8)).upperBound == .milliseconds(2))
    }

    @Test func theWaitsGrowWithTheTimeThatHasPassed() {
        var events = UnsettledEvents()
        _ = events.wait(at: start)
        #expect(events.wait(at: start + .milliseconds(40)).upperBound == .milliseconds(10))
        #expect(events.wait(at: start + .seconds(60)).upperBound == .milliseconds(20))
    }

    @Test func noSignalEndsTheFirstTwoMilliseconds() {
        var events = UnsettledEvents()
        for waited in [Duration.zero, .milliseconds(8), .milliseconds(40), .seconds(60)] {
            #expect(events.wait(at: start + waited).lowerBound == .milliseconds(2))
        }
    }

    @Test func settledEventsEndTheWait() {
        var events = UnsettledEvents()
        _ = events.wait(at: start)
        events.settle()
        #expect(events.wait(at: start + .seconds(60)).upperBound == .milliseconds(2))
    }
}
