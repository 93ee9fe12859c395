import Testing

@testable import devstore

@Suite struct ChaosAnswersTests {
    @Test(arguments: [200, 201, 404, 409, 422, 429, 502, 503, 504])
    func anAnswerThatAClientCanUseIsNoFailure(status: Int) {
        var answers = ChaosAnswers()
        answers.note("a finish", of: "fulfillment", .status(status, code: nil), after: .zero)
        #expect(answers.complaint == nil)
        #expect(answers.refused == (status > 500 ? [status: 1] : [:]))
    }

    @Test(arguments: [500, 501, 505, 599])
    func anyOtherServerErrorFailsTheRun(status: Int) throws {
        var answers = ChaosAnswers()
        for _ in 1...2 {
            answers.note(
                "a finish",
                of: "fulfillment",
                .status(status, code: "internal"),
                after: .zero
            )
        }
        #expect(
            try #require(answers.complaint)
                .contains("2 × a finish at fulfillment: \(status) internal")
        )
    }

    @Test func noAnswerIsNoFailureButItsTimeIsRecorded() {
        var answers = ChaosAnswers()
        answers.note("a finish", of: "fulfillment", .noAnswer, after: .seconds(12))
        #expect(answers.complaint == nil)
        #expect(answers.unanswered == [.seconds(12)])
        #expect(answers.answered.isEmpty)
    }

    @Test func theLongestSilenceIsFoundWithItsStart() {
        let begin = ContinuousClock.now
        var silence = LongestSilence(begin: begin)
        for second in [1, 2, 9, 10, 14] { silence.end(at: begin + .seconds(second)) }
        #expect(silence.length == .seconds(7))
        #expect(silence.start == .seconds(2))
    }
}
