import Testing

@testable import StripeStandIn

@Suite struct KeyedAnswersTests {
    private static let first = StandInAnswer(.object(["id": .text("pi_1")]))

    private static func kept(_ answer: StandInAnswer = first) -> KeyedAnswers {
        var answers = KeyedAnswers(lifetime: .seconds(100))
        _ = answers.begin("key", "POST /v1/refunds a=1", at: .zero)
        answers.keep(answer, for: "key")
        return answers
    }

    @Test func theFirstAnswerIsGivenAgainAlsoAFailure() {
        for status in [200, 402, 500] {
            var answers = Self.kept(StandInAnswer(status: status, .null))
            let entry = answers.begin("key", "POST /v1/refunds a=1", at: .seconds(99))
            guard case .replay(let answer) = entry else {
                Issue.record("\(entry)")
                continue
            }
            #expect(answer.status == status)
            #expect(answer.isReplayed)
        }
    }

    @Test(arguments: ["POST /v1/refunds a=2", "POST /v1/customers a=1"])
    func anotherRequestUnderTheKeyIsRefused(fingerprint: String) {
        var answers = Self.kept()
        guard case .refuse(let error) = answers.begin("key", fingerprint, at: .zero) else {
            Issue.record("it is not refused")
            return
        }
        #expect(error.status == 400)
        #expect(error.type == "idempotency_error")
    }

    @Test func aKeyInUseIsRefusedUntilItsWorkEnds() {
        var answers = KeyedAnswers(lifetime: .seconds(100))
        let entries = (0..<2).map { _ in answers.begin("key", "a", at: .zero) }
        #expect(entries[0] == .begin)
        guard case .refuse(let error) = entries[1] else {
            Issue.record("it is not refused")
            return
        }
        #expect(error.status == 409)
        #expect(error.code == "idempotency_key_in_use")
        answers.release("key")
        let next = answers.begin("key", "b", at: .zero)
        #expect(next == .begin)
    }

    @Test func aForgottenKeyIsANewOne() {
        var answers = Self.kept()
        let entry = answers.begin("key", "POST /v1/refunds a=2", at: .seconds(100))
        #expect(entry == .begin)
    }
}
