import ServiceKit
import Testing

@testable import Payments

/// Work that is left alone for a while, so that it holds up no other.
@Suite struct FailedWorkTests {
    private let metrics = PrometheusMetrics()
    private let failed: FailedWork<Int>
    private let now = ContinuousClock.now

    init() { failed = FailedWork(of: "things", metrics: metrics) }

    /// The value that `/metrics` shows.
    private var gauge: Substring? {
        metrics.exposition().split(separator: "\n")
            .first { $0.hasPrefix(#"work_set_aside{kind="things"}"#) }?
            .split(separator: " ").last
    }

    @Test func eachFailureDoublesThePauseUpToAnHour() {
        #expect(failed.current(at: now).isEmpty)
        #expect(failed.note(7, at: now))
        #expect(failed.current(at: now + .seconds(59)) == [7])
        let second = now + .seconds(60)
        #expect(failed.current(at: second).isEmpty)
        #expect(!failed.note(7, at: second), "it is known")
        #expect(failed.current(at: second + .seconds(119)) == [7])
        #expect(failed.current(at: second + .seconds(120)).isEmpty)
        for _ in 0..<10 { _ = failed.note(7, at: second) }
        #expect(failed.current(at: second + .seconds(3599)) == [7])
        #expect(failed.current(at: second + .seconds(3600)).isEmpty)
    }

    @Test func whatWasCarriedOutIsForgotten() {
        _ = failed.note(7, at: now)
        failed.forget(7)
        #expect(failed.current(at: now).isEmpty)
        #expect(failed.note(7, at: now), "it is a first failure again")
    }

    @Test func whatDoesNotFailAgainIsForgottenInTheEnd() {
        _ = failed.note(7, at: now)
        #expect(failed.current(at: now + .seconds(660)).isEmpty)
        #expect(failed.note(7, at: now + .seconds(660)))
    }

    @Test func theGaugeCountsWhatIsLeftAlone() {
        #expect(gauge == "0", "the series exists before the first failure")
        _ = failed.note(7, at: now)
        _ = failed.note(8, at: now)
        _ = failed.note(8, at: now)
        #expect(gauge == "2")
        failed.forget(7, at: now)
        #expect(gauge == "1")
    }

    @Test func theGaugeForgetsWhatHasNotFailedAgain() {
        _ = failed.note(7, at: now)
        #expect(failed.current(at: now + .seconds(119)).isEmpty)
        #expect(gauge == "1", "it is being tried again")
        #expect(failed.current(at: now + .seconds(120)).isEmpty)
        #expect(gauge == "0", "it was tried again, and did not fail")
        #expect(!failed.note(7, at: now + .seconds(120)), "its pause still grows")
        #expect(gauge == "1")
    }
}
