import Logging
import ServiceKit
import Stripe
import Synchronization
import TestSupport
import Testing

@testable import Payments

/// The way of calls to Stripe, after one that Stripe did not take.
@Suite struct StripeGateTests {
    private let gate = StripeGate(
        rate: 100,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    )

    /// Makes a call that Stripe refuses.
    private func refuse(_ lane: RateShares.Lane, status: Int) async {
        await #expect(throws: StripeFailure(.accessRefused, status: status)) {
            try await gate.pass(lane) { () async throws(StripeFailure) -> Int in
                throw StripeFailure(.accessRefused, status: status)
            }
        }
    }

    @Test func aPermissionThatIsMissingStopsNoOtherCalls() async throws {
        await refuse(.inquiries, status: 403)
        for lane in RateShares.Lane.allCases {
            let answer = try await gate.pass(lane) { () async throws(StripeFailure) in 1 }
            #expect(answer == 1)
        }
    }

    @Test func whoDoesNotAnswerIsNotCalledAndIsNamedOnce() async throws {
        let log = RecordedLog()
        let gate = StripeGate(rate: 100, logger: log.logger)
        let calls = Mutex(0)
        func call(_ failure: StripeFailure?) async throws -> Int {
            try await gate.pass(.inquiries) { () async throws(StripeFailure) in
                calls.withLock { $0 += 1 }
                if let failure { throw failure }
                return 1
            }
        }
        for _ in 0..<CircuitBreaker.failuresMax {
            await #expect(throws: StripeFailure.self) { try await call(StripeFailure(.unknown)) }
        }
        for _ in 0..<10 {
            await #expect(throws: StripeFailure.self) { try await call(nil) }
        }
        #expect(calls.withLock { $0 } == CircuitBreaker.failuresMax)
        #expect(log.messages(at: .error).count == 1)
        // After a pause one call tries, and with it Stripe is there again.
        let answer = try await eventually("a call") { try? await call(nil) }
        #expect(answer == 1)
        #expect(log.messages(at: .notice).count == 1)
    }

    @Test func whoStaysAwayIsNamedOnceAndMeasuredUntilTheNextAnswer() async throws {
        let (log, metrics) = (RecordedLog(), PrometheusMetrics())
        let time = Mutex(Duration.zero)
        let gate = StripeGate(
            rate: 100,
            metrics: metrics,
            now: { time.withLock { $0 } },
            logger: log.logger
        )
        /// Makes a call that is not answered.
        func fail(after pause: Duration) async {
            time.withLock { $0 += pause }
            await #expect(throws: StripeFailure(.unknown)) {
                try await gate.pass(.inquiries) { () async throws(StripeFailure) -> Int in
                    throw StripeFailure(.unknown)
                }
            }
        }
        for _ in 1..<CircuitBreaker.failuresMax { await fail(after: .seconds(1)) }
        #expect(!metrics.exposition().contains("processor_away 1") && gate.problem == nil)
        await fail(after: .seconds(1))
        #expect(metrics.exposition().contains("processor_away 1") && gate.problem != nil)
        // After each pause one call tries, and then the pause is twice as long.
        for seconds in [2, 4, 8] {
            await fail(after: .seconds(seconds))
            #expect(metrics.exposition().contains("processor_away 1"))
        }
        #expect(log.messages(at: .error).count == 1)
        time.withLock { $0 += .seconds(16) }
        let answer = try await gate.pass(.inquiries) { () async throws(StripeFailure) in 1 }
        #expect(answer == 1)
        #expect(metrics.exposition().contains("processor_away 0") && gate.problem == nil)
        #expect(log.messages(at: .notice).count == 1)
    }

    @Test func anAccountThatIsNotTheDefaultIsNamed() async {
        let (log, metrics) = (RecordedLog(), PrometheusMetrics())
        let gate = StripeGate(
            to: ProcessorAccountName(rawValue: "games"),
            rate: 100,
            metrics: metrics,
            logger: log.logger
        )
        await #expect(throws: StripeFailure(.accessRefused, status: 401)) {
            try await gate.pass(.inquiries) { () async throws(StripeFailure) -> Int in
                throw StripeFailure(.accessRefused, status: 401)
            }
        }
        #expect(gate.problem?.hasPrefix("Stripe does not answer for the account games,") == true)
        #expect(metrics.exposition().contains("processor_away{account=\"games\"} 1"))
    }

    @Test func aKeyThatIsNotTakenStopsAllCalls() async {
        await refuse(.inquiries, status: 401)
        for lane in RateShares.Lane.allCases {
            await #expect(throws: StripeFailure.self) {
                try await gate.pass(lane) { () async throws(StripeFailure) in 1 }
            }
        }
    }

    @Test func afterHalfAMinuteAKeyThatWasNotTakenIsTriedAgain() async throws {
        let time = Mutex(Duration.zero)
        let gate = StripeGate(
            rate: 100,
            now: { time.withLock { $0 } },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        await #expect(throws: StripeFailure.self) {
            try await gate.pass(.buyers) { () async throws(StripeFailure) -> Int in
                throw StripeFailure(.accessRefused, status: 401)
            }
        }
        time.withLock { $0 += StripeGate.refusalPause - .seconds(1) }
        await #expect(throws: StripeFailure(.throttled(after: .seconds(1)))) {
            try await gate.pass(.buyers) { () async throws(StripeFailure) in 1 }
        }
        time.withLock { $0 += .seconds(1) }
        let answer = try await gate.pass(.buyers) { () async throws(StripeFailure) in 1 }
        #expect(answer == 1)
    }
}
