import EventTypes
import OperatorCore
import Testing

@testable import Operator

@Suite struct SendOnceTests {
    private static let lost = OperatorError(.unavailable, "payments is away.")

    @Test func anAnswerThatMayBeLostNamesTheKeyToRepeatWith() async {
        let error = await #expect(throws: OperatorError.self) {
            try await sendOnce(under: IdempotencyKey(unchecked: "case-7"), "it refunds once") { _ in
                throw Self.lost
            }
        }
        #expect(error?.code == .unavailable)
        #expect(
            error?.description
                == "payments is away. Repeat the command with --key case-7: it refunds once."
        )
    }

    @Test func aRefusalIsPassedOnAsItIs() async {
        let refusal = OperatorError(.failed, "Nothing is left.", status: 409)
        let error = await #expect(throws: OperatorError.self) {
            try await sendOnce(under: nil, "it refunds once") { _ in throw refusal }
        }
        #expect(error == refusal)
    }

    @Test func anAnswerIsPassedOnUnderTheKeyThatWasNamed() async throws {
        let key = IdempotencyKey(unchecked: "case-7")
        let used = try await askOnce(under: key, "it pays once") { $0 }
        #expect(used == key)
    }

    @Test func withoutAKeyEachRequestHasItsOwn() async throws {
        var keys: Set<IdempotencyKey> = []
        for _ in 1...2 { try await sendOnce(under: nil, "it extends once") { keys.insert($0) } }
        #expect(keys.count == 2)
    }
}
