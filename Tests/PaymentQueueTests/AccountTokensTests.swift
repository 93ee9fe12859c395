import Synchronization
import TestSupport
import Testing

@testable import PaymentQueue

@Suite(.timeLimit(.minutes(10))) struct AccountTokensTests {
    /// Hands out numbered tokens, and remembers what it was asked with.
    private final class Issuer: Sendable {
        let asked = Mutex<[String?]>([])
        let failures: Int

        init(failures: Int = 0) { self.failures = failures }

        func issue(_ refused: String?) throws -> String {
            try asked.withLock { asked in
                asked.append(refused)
                guard asked.count > failures else { throw Away() }
                return "token \(asked.count)"
            }
        }
    }

    private struct Away: Error {}

    @Test func aTokenIsAskedForOnce() async throws {
        let issuer = Issuer()
        let tokens = AccountTokens(timeout: .seconds(60), ask: issuer.issue)
        let many = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await tokens.token() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(many) == ["token 1"])
        #expect(issuer.asked.withLock { $0 } == [nil])
    }

    @Test func aRefusedTokenIsReplacedOnceForEverybody() async throws {
        let issuer = Issuer()
        let tokens = AccountTokens(timeout: .seconds(60), ask: issuer.issue)
        let first = try await tokens.token()
        let many = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await tokens.token(insteadOf: first) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(many) == ["token 2"])
        #expect(issuer.asked.withLock { $0 } == [nil, "token 1"])
        #expect(try await tokens.token() == "token 2")
    }

    /// Spec rule 69.
    @Test func aRenewedTokenIsAskedForThoughNoneWasRefused() async throws {
        let issuer = Issuer()
        let tokens = AccountTokens(timeout: .seconds(60), ask: issuer.issue)
        _ = try await tokens.token()
        #expect(try await tokens.renewed() == "token 2")
        #expect(try await tokens.token() == "token 2")
        #expect(issuer.asked.withLock { $0 } == [nil, nil])
    }

    @Test func aProgramThatHasNoTokenNowIsAskedAgainLater() async throws {
        let issuer = Issuer(failures: 1)
        let tokens = AccountTokens(timeout: .seconds(60), ask: issuer.issue)
        await #expect(throws: Away.self) { try await tokens.token() }
        #expect(try await tokens.token() == "token 2")
    }

    /// A program's function that does not return before it is let go, and may not heed that it is
    /// cancelled.
    private final class Silence: Sendable {
        private struct State: ~Copyable {
            var calls = 0
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Mutex(State())
        let cancelled = Mutex(0)

        var calls: Int { state.withLock { $0.calls } }

        func call(_ refused: String?) async throws -> String {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    state.calls += 1
                    state.waiting.append(continuation)
                }
            }
            if Task.isCancelled { cancelled.withLock { $0 += 1 } }
            return "too late"
        }

        func end() {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    @Test func aProgramThatNeverReturnsIsCancelledAndAskedAFewTimes() async throws {
        let silence = Silence()
        let tokens = AccountTokens(timeout: .milliseconds(20), ask: silence.call)
        for count in 1...AccountTokens.lostCallsMax + 2 {
            await #expect(throws: AccountTokens.Missing.self) { try await tokens.token() }
            #expect(silence.calls == min(count, AccountTokens.lostCallsMax))
        }
        silence.end()
        try await eventually("the calls to end, as cancelled") {
            silence.cancelled.withLock { $0 } == AccountTokens.lostCallsMax ? true : nil
        }
        // What came too late is nobody's token; there is room for another call.
        try await eventually("another call") {
            await #expect(throws: AccountTokens.Missing.self) { try await tokens.token() }
            return silence.calls > AccountTokens.lostCallsMax ? true : nil
        }
        silence.end()
    }

    @Test func allWhoWaitForAProgramThatNeverReturnsAreLetGo() async throws {
        let silence = Silence()
        let tokens = AccountTokens(timeout: .milliseconds(50), ask: silence.call)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    await #expect(throws: AccountTokens.Missing.self) { try await tokens.token() }
                }
            }
        }
        #expect(silence.calls <= 2)
        silence.end()
    }
}
