import Testing

@testable import Messaging

@Suite struct RetryPolicyTests {
    @Test func theWaitDoublesUpToTheCeiling() {
        let policy = RetryPolicy(base: .milliseconds(100), ceiling: .seconds(1))
        let waits = (1...6).map { policy.delay(afterFailures: $0, jitter: 1) }
        #expect(
            waits == [
                .milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800),
                .seconds(1), .seconds(1),
            ]
        )
    }

    @Test func jitterTakesAwayAtMostHalf() {
        let policy = RetryPolicy(base: .milliseconds(100), ceiling: .seconds(1))
        #expect(policy.delay(afterFailures: 1, jitter: 0) == .milliseconds(50))
        #expect(policy.delay(afterFailures: 1, jitter: 0.5) == .milliseconds(75))
    }

    @Test func aHugeNumberOfFailuresStaysAtTheCeiling() {
        let policy = RetryPolicy()
        #expect(policy.delay(afterFailures: .max, jitter: 1) == .seconds(5))
    }
}
