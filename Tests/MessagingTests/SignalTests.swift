import Testing

@testable import Messaging

@Suite(.timeLimit(.minutes(10))) struct SignalTests {
    @Test func aSignalBeforeTheWaitEndsOneWait() async throws {
        let signal = Signal()
        signal.send()
        signal.send()
        try await signal.wait(atMost: .seconds(50))
        let started = ContinuousClock.now
        try await signal.wait(atMost: .milliseconds(30))
        #expect(ContinuousClock.now - started >= .milliseconds(30))
    }

    @Test func aSignalEndsTheWait() async throws {
        let signal = Signal()
        async let waited: Void = signal.wait(atMost: .seconds(50))
        signal.send()
        try await waited
    }

    @Test func aSignalEndsAWaitAfterOthersThatTimedOut() async throws {
        let signal = Signal()
        for _ in 0..<3 { try await signal.wait(atMost: .milliseconds(5)) }
        async let waited: Void = signal.wait(atMost: .seconds(50))
        signal.send()
        try await waited
    }

    @Test func aSignalDoesNotEndTheRestBeforeAWait() async throws {
        let signal = Signal()
        signal.send()
        let time = try await ContinuousClock().measure {
            try await signal.wait(within: Duration.milliseconds(30)...Duration.seconds(50))
        }
        #expect(time >= .milliseconds(30))
        #expect(time < .seconds(50))
    }

    @Test func aWaitThatIsOnlyARestEnds() async throws {
        let signal = Signal()
        for _ in 0..<10 {
            try await signal.wait(within: Duration.milliseconds(1)...Duration.milliseconds(1))
        }
    }

    @Test func aWaitEndsWhoseTimeIsOverAsItBegins() async throws {
        let signal = Signal()
        for _ in 0..<1000 { try await signal.wait(atMost: .zero) }
    }

    @Test func cancellationEndsTheWait() async throws {
        let signal = Signal()
        let task = Task { try await signal.wait(atMost: .seconds(50)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
