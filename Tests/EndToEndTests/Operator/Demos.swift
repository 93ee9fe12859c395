import Foundation
import Testing
import TestSupport

extension EndToEnd {
    /// `make demo` with its stories.
    @Suite
    struct Demos {
        /// The command fails by itself if a step does not do what it says.
        ///
        /// It takes less than a minute by itself. On two cores, three other stores that run at the same
        /// time may take several times that.
        @Test func theStoryOfASubscriptionIsToldToItsEnd() async throws {
            let clock = ContinuousClock()
            let begin = clock.now
            let output = try await ChildProcess.run(
                try BuiltExecutables.path("devstore"),
                ["demo", "--story", "subscription"],
                environment: ProcessInfo.processInfo.environment
            )
            #expect(clock.now - begin < .seconds(540), "\(output)")
            var rest = Substring(output)
            for step in [
                "1  Buy", "active", "2  Renew", "Done: 1 renewal.", "3  Upgrade", "refund",
                "4  Fail and grace", "inGracePeriod", "5  Recover", "active", "6  Cancel",
                "none", "7  Lapse", "expired", "8  The proof",
            ] {
                let range = try #require(rest.range(of: step), "\(step) is missing in:\n\(output)")
                rest = rest[range.upperBound...]
            }
        }
    }
}
