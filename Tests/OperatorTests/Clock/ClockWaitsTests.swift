import Testing

@testable import Operator

/// Tests of what an advance of the store's clock waits for, and since when.
@Suite struct ClockWaitsTests {
    private let start = ContinuousClock.now

    @Test func eachIsNamedWithTheSecondsSinceItWasFirstFound() {
        var waits = ClockWaits()
        #expect(waits.text(at: start) == nil)
        waits.note(["fulfillment"], at: start)
        #expect(waits.text(at: start) == "fulfillment", "a moment is not worth a number")
        waits.note(["fulfillment", "renewals"], at: start + .seconds(3))
        #expect(waits.text(at: start + .seconds(3)) == "fulfillment (for 3 s), renewals")
        #expect(waits.text(at: start + .seconds(5)) == "fulfillment (for 5 s), renewals (for 2 s)")
    }

    @Test func whatWasDoneMeanwhileIsCountedFromAnew() {
        var waits = ClockWaits()
        waits.note(["renewals"], at: start)
        waits.note([], at: start + .seconds(3))
        #expect(waits.text(at: start + .seconds(3)) == nil)
        waits.note(["renewals"], at: start + .seconds(4))
        #expect(waits.text(at: start + .seconds(6)) == "renewals (for 2 s)")
    }
}
