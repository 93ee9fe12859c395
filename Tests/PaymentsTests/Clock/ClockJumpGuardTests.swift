import EventTypes
import Logging
import ServiceKit
import TestSupport
import Testing

@testable import Payments

/// The signs that an operator sees while the clock is ahead: the gauge of the alert, and the log.
@Suite struct ClockJumpGuardTests {
    private static let year = Duration.seconds(365 * 86_400)

    private let metrics = PrometheusMetrics()
    private let log = RecordedLog()
    /// A guard that has looked at the clock once, in a process in which no time passes.
    private let jumps: ClockJumpGuard

    init() {
        jumps = ClockJumpGuard(passed: { .zero }, metrics: metrics, logger: log.logger)
        #expect(gauge == "0", "the series exists before the first look")
        #expect(!jumps.isStopped(at: startTime))
    }

    /// The value that `/metrics` shows.
    private var gauge: Substring? {
        metrics.exposition().split(separator: "\n")
            .first { $0.hasPrefix("store_clock_jumped ") }?
            .split(separator: " ").last
    }

    @Test func theGaugeIsOneUntilTheClockIsRight() {
        #expect(gauge == "0")
        let far = startTime.advanced(by: Self.year)
        for _ in 0..<2 {
            #expect(jumps.isStopped(at: far))
            #expect(gauge == "1")
        }
        #expect(!jumps.isStopped(at: startTime))
        #expect(gauge == "0")
        #expect(log.messages(at: .error).count == 1)
        #expect(log.messages(at: .notice).count == 1)
    }

    @Test func theGaugeIsOneUntilAnAdministratorSaysThatItIs() {
        let far = startTime.advanced(by: Self.year)
        #expect(jumps.isStopped(at: far, confirmed: startTime))
        #expect(gauge == "1", "the word was about another time")
        #expect(!jumps.isStopped(at: far, confirmed: far))
        #expect(gauge == "0")
        #expect(jumps.isStopped(at: far.advanced(by: Self.year), confirmed: far))
        #expect(gauge == "1", "another jump needs another word")
    }
}
