import EventTypes
import Testing

@testable import Stripe

/// Asks a breaker for a call, and checks its answer.
private func expect(
    _ breaker: inout CircuitBreaker,
    toCall isCalled: Bool,
    at time: Duration,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let mayCall = breaker.mayCall(at: time)
    #expect(mayCall == isCalled, sourceLocation: sourceLocation)
}

@Suite struct CircuitBreakerTests {
    private static func opened(at time: Duration = .zero) -> CircuitBreaker {
        var breaker = CircuitBreaker()
        for _ in 0..<CircuitBreaker.failuresMax {
            expect(&breaker, toCall: true, at: time)
            breaker.record(.failed, at: time)
        }
        return breaker
    }

    @Test func failuresInARowOpenIt() {
        var breaker = Self.opened()
        expect(&breaker, toCall: false, at: .milliseconds(1999))
    }

    @Test func anAnswerBetweenFailuresKeepsItClosed() {
        var breaker = CircuitBreaker()
        for round in 0..<20 {
            breaker.record(round % 4 == 3 ? .answered : .failed, at: .zero)
            expect(&breaker, toCall: true, at: .zero)
        }
    }

    @Test func afterThePauseOneCallTries() {
        var breaker = Self.opened()
        expect(&breaker, toCall: true, at: .seconds(2))
        expect(&breaker, toCall: false, at: .seconds(2))
        breaker.record(.answered, at: .seconds(3))
        #expect(breaker.state == .closed(failures: 0))
        expect(&breaker, toCall: true, at: .seconds(3))
    }

    @Test func everyFailedTryDoublesThePauseUpToAMinute() {
        var breaker = Self.opened()
        var time = Duration.zero
        for pause in [2, 4, 8, 16, 32, 60, 60] {
            expect(&breaker, toCall: false, at: time + .seconds(pause) - .milliseconds(1))
            time += .seconds(pause)
            expect(&breaker, toCall: true, at: time)
            breaker.record(.failed, at: time)
        }
    }

    @Test func aTryThatReportsNothingIsFollowedByAnother() {
        var breaker = Self.opened()
        expect(&breaker, toCall: true, at: .seconds(2))
        expect(&breaker, toCall: false, at: .seconds(46))
        expect(&breaker, toCall: true, at: .seconds(47))
    }

    @Test func aLateFailureProlongsNothing() {
        var breaker = Self.opened()
        breaker.record(.failed, at: .seconds(1))
        expect(&breaker, toCall: true, at: .seconds(2))
    }

    @Test(arguments: [
        (StripeFailure.Kind.unknown, CircuitBreaker.Result.failed),
        (.declined(.paymentDeclined, .later), .answered), (.throttled(after: nil), .answered),
        (.mistaken, .answered), (.missing, .answered),
    ])
    func onlyAnUnknownOutcomeIsAFailureOfStripe(
        kind: StripeFailure.Kind,
        result: CircuitBreaker.Result
    ) {
        #expect(CircuitBreaker.Result(StripeFailure(kind)) == result)
    }

    @Test func noFailureIsAnAnswer() {
        #expect(CircuitBreaker.Result(nil) == .answered)
    }
}
