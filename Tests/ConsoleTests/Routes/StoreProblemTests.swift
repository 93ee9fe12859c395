import OperatorCore
import Testing

@testable import Console

@Suite struct StoreProblemTests {
    @Test(
        arguments: [
            (OperatorError.Code.failed, 404, 404), (.failed, 400, 400), (.failed, 500, 503),
            (.refusedCredentials, 401, 403), (.refusedCredentials, 403, 403),
            (.unavailable, 503, 503), (.unavailable, 429, 503), (.failed, nil, 503),
            (.refusedCredentials, nil, 503), (.unavailable, nil, 503),
        ] as [(OperatorError.Code, Int?, Int)]
    )
    func aReadThatFailsHasItsStatus(_ code: OperatorError.Code, _ status: Int?, _ shown: Int) {
        let error = OperatorError(code, "no such thing\nmore", status: status)
        let problem = ConsoleProblem(reading: error)
        #expect(problem.status == shown)
        #expect(problem.detail.contains("no such thing") && !problem.detail.contains("more"))
    }

    @Test(arguments: [(409, 409), (412, 412), (404, 404), (nil, 409)] as [(Int?, Int)])
    func aRefusedActHasTheStatusOfTheService(_ status: Int?, _ shown: Int) {
        let problem = ConsoleProblem(refusal: OperatorError(.failed, "no", status: status))
        #expect(problem.status == shown)
    }

    @Test(
        arguments: [
            (.failed, 500, true), (.unavailable, nil, true), (.unavailable, 503, true),
            (.failed, 409, false), (.failed, nil, false), (.refusedCredentials, 403, false),
        ] as [(OperatorError.Code, Int?, Bool)]
    )
    func anActThatAServiceFailedAtMayHaveBeenDone(
        _ code: OperatorError.Code,
        _ status: Int?,
        _ mayHaveActed: Bool
    ) {
        #expect(OperatorError(code, "no", status: status).mayHaveActed == mayHaveActed)
    }
}
