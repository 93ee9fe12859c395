import Testing

@testable import Messaging

@Suite struct ReadingDelayTests {
    private func wait(_ age: Duration, delay: Duration = .seconds(1)) -> Duration {
        ReadingDelay.wait(atAge: age, untilAge: delay)
    }

    @Test func aYoungEventWaitsForTheRestOfTheDelay() {
        #expect(wait(.zero) == .seconds(1))
        #expect(wait(.milliseconds(300)) == .milliseconds(700))
    }

    @Test func anEventThatIsOldEnoughIsAppliedAtOnce() {
        #expect(wait(.seconds(1)) == .zero)
        #expect(wait(.seconds(3600)) == .zero)
    }

    @Test func aProducersClockThatIsAheadHoldsUpNobodyLonger() {
        #expect(wait(.seconds(-3600)) == .seconds(1))
    }

    @Test func withoutADelayNobodyWaits() {
        #expect(wait(.zero, delay: .zero) == .zero)
        #expect(wait(.seconds(-3600), delay: .zero) == .zero)
    }
}
