import Callbacks
import Logging
import Synchronization
import TestSupport
import Testing

/// A sender without calls leases nothing until one is due.
@Suite(.timeLimit(.minutes(10))) struct QuietSenderTests {
    private struct TestCall: Callback {
        let host = "merchant.example"
    }

    /// Calls that are in memory.
    private final class Calls: OutgoingCalls {
        private struct State {
            var due = 0
            var looks = 0
            var leases = 0
            var performed = 0
        }

        private let state = Mutex(State())

        var looks: Int { state.withLock { $0.looks } }
        var leases: Int { state.withLock { $0.leases } }
        var performed: Int { state.withLock { $0.performed } }

        func add(_ count: Int) { state.withLock { $0.due += count } }

        func take(limit: Int, excluding hosts: [String]) async throws -> [TestCall] {
            state.withLock { state in
                state.leases += 1
                let count = min(limit, state.due)
                state.due -= count
                return Array(repeating: TestCall(), count: count)
            }
        }

        func untilNextDue() async throws -> Duration? {
            state.withLock { state in
                state.looks += 1
                return state.due > 0 ? .zero : nil
            }
        }

        func perform(_ call: TestCall) async { state.withLock { $0.performed += 1 } }

        func shutDown() async throws {}
    }

    @Test func whileNoCallIsDueNothingIsLeased() async throws {
        let calls = Calls()
        let sender = CallbackSender(
            calls: calls,
            limits: CallbackLimits(concurrency: 8, pollInterval: .milliseconds(1)),
            logger: Logger(label: "test")
        )
        let running = Task { try await sender.run() }
        try await eventually("a few looks") { calls.looks > 5 ? true : nil }
        #expect(calls.leases == 1, "The first look is one that leases.")
        // Nobody wakes the sender: another instance has left them.
        calls.add(20)
        try await eventually("all calls to be made") { calls.performed == 20 ? true : nil }
        running.cancel()
        try await running.value
    }
}
