import EventTypes
import TestSupport
import Testing

@testable import Payments

/// The times at which old nonces are deleted.
@Suite struct NoncePruningTests {
    private let now = startTime.onMachines

    @Test func aMinuteOrManyUsesMakeItDue() {
        let pruning = NoncePruning()
        #expect(pruning.isDue(after: 1, at: now), "The first use begins it.")
        #expect(!pruning.isDue(after: 1, at: now))
        let later = now.advanced(by: NoncePruning.interval)
        #expect(!pruning.isDue(after: 1, at: later.advanced(by: .milliseconds(-1))))
        #expect(pruning.isDue(after: 1, at: later))
        #expect(!pruning.isDue(after: NoncePruning.usesMax - 1, at: later))
        #expect(pruning.isDue(after: 1, at: later))
    }

    @Test func aClockThatIsSetBackDoesNotPutItOff() {
        let pruning = NoncePruning()
        #expect(pruning.isDue(after: 1, at: now))
        let earlier = now.advanced(by: .seconds(-3600))
        #expect(pruning.isDue(after: 1, at: earlier))
        #expect(!pruning.isDue(after: 1, at: earlier))
    }
}
