import Logging
import ServiceKit
import TestSupport
import Testing

@testable import Payments

/// Work that is left alone for a while, so that it holds up no other.
@Suite struct FailedWorkTests {
    private struct Failure: Error {}

    private let metrics = PrometheusMetrics()
    private let log = RecordedLog()
    private let failed: FailedWork<Int>
    private let now = ContinuousClock.now

    init() { failed = FailedWork(of: "things", metrics: metrics) }

    /// The value that `/metrics` shows.
    private var gauge: Substring? {
        metrics.exposition().split(separator: "\n")
            .first { $0.hasPrefix(#"work_set_aside{kind="things"}"#) }?
            .split(separator: " ").last
    }

    /// Leaves work alone.
    ///
    /// - Returns: Whether the log calls it an error, which is so for a first failure.
    private func leaveAlone(_ id: Int, at time: ContinuousClock.Instant) -> Bool {
        failed.leaveAlone(id, because: Failure(), ["thing": "\(id)"], in: log.logger, at: time)
        return log.levels.last == .error
    }

    @Test func eachFailureDoublesThePauseUpToAnHour() {
        #expect(failed.current(at: now).isEmpty)
        #expect(leaveAlone(7, at: now))
        #expect(failed.current(at: now + .seconds(59)) == [7])
        let second = now + .seconds(60)
        #expect(failed.current(at: second).isEmpty)
        #expect(!leaveAlone(7, at: second), "it is known")
        #expect(log.levels == [.error, .debug])
        #expect(failed.current(at: second + .seconds(119)) == [7])
        #expect(failed.current(at: second + .seconds(120)).isEmpty)
        for _ in 0..<10 { _ = leaveAlone(7, at: second) }
        #expect(failed.current(at: second + .seconds(3599)) == [7])
        #expect(failed.current(at: second + .seconds(3600)).isEmpty)
    }

    @Test func theLogSaysWhatIsLeftAloneAndWhy() throws {
        _ = leaveAlone(7, at: now)
        let line = try #require(log.lines.first)
        #expect(line.contains(RowError.remedy.description))
        #expect(line.contains("thing") && line.contains("Failure()"))
    }

    @Test func whatWasCarriedOutIsForgotten() {
        _ = leaveAlone(7, at: now)
        failed.forget(7)
        #expect(failed.current(at: now).isEmpty)
        #expect(leaveAlone(7, at: now), "it is a first failure again")
    }

    @Test func whatDoesNotFailAgainIsForgottenInTheEnd() {
        _ = leaveAlone(7, at: now)
        #expect(failed.current(at: now + .seconds(660)).isEmpty)
        #expect(leaveAlone(7, at: now + .seconds(660)))
    }

    @Test func theGaugeCountsWhatIsLeftAlone() {
        #expect(gauge == "0", "the series exists before the first failure")
        _ = leaveAlone(7, at: now)
        _ = leaveAlone(8, at: now)
        _ = leaveAlone(8, at: now)
        #expect(gauge == "2")
        failed.forget(7, at: now)
        #expect(gauge == "1")
    }

    @Test func theGaugeForgetsWhatHasNotFailedAgain() {
        _ = leaveAlone(7, at: now)
        #expect(failed.current(at: now + .seconds(119)).isEmpty)
        #expect(gauge == "1", "it is being tried again")
        #expect(failed.current(at: now + .seconds(120)).isEmpty)
        #expect(gauge == "0", "it was tried again, and did not fail")
        #expect(!leaveAlone(7, at: now + .seconds(120)), "its pause still grows")
        #expect(gauge == "1")
    }
}
