import Synchronization
import Testing

@testable import PaymentQueue

@Suite(.timeLimit(.minutes(1))) struct AccountTokensTests {
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
        let tokens = AccountTokens(ask: issuer.issue)
        let many = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await tokens.token() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(many) == ["token 1"])
        #expect(issuer.asked.withLock { $0 } == [nil])
    }

    @Test func aRefusedTokenIsReplacedOnceForEverybody() async throws {
        let issuer = Issuer()
        let tokens = AccountTokens(ask: issuer.issue)
        let first = try await tokens.token()
        let many = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await tokens.token(insteadOf: first) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(many) == ["token 2"])
        #expect(issuer.asked.withLock { $0 } == [nil, "token 1"])
        #expect(try await tokens.token() == "token 2")
    }

    @Test func aProgramThatHasNoTokenNowIsAskedAgainLater() async throws {
        let issuer = Issuer(failures: 1)
        let tokens = AccountTokens(ask: issuer.issue)
        await #expect(throws: Away.self) { try await tokens.token() }
        #expect(try await tokens.token() == "token 2")
    }
}
