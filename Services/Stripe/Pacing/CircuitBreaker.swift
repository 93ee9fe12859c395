/// The decision whether a processor that fails is called at all.
///
/// Pure: the time is an argument.
///
/// After a number of failures in a row it is open: nobody calls. After a pause one call may try. If
/// that one succeeds everybody may call again, and if not the next pause is twice as long.
package struct CircuitBreaker: Hashable, Sendable {
    /// The state, which the service's health shows.
    package enum State: Hashable, Sendable {
        /// Everybody may call; this many calls have failed since one succeeded.
        case closed(failures: Int)
        /// Nobody may call before a time.
        case open(until: Duration, pause: Duration)
        /// One call tries since a time.
        case trying(since: Duration, pause: Duration)
    }

    /// The result of a call, as far as it says something about the processor.
    package enum Result: Hashable, Sendable {
        /// It answered, be it with a decline or with a refusal of a wrong request.
        case answered
        /// It failed, or did not answer in time.
        case failed
    }

    /// The failures in a row after which the breaker opens.
    package static let failuresMax = 5
    /// The first pause, and the longest one.
    package static let pauseMin = Duration.seconds(2)
    package static let pauseMax = Duration.seconds(60)
    /// The time after which a try that reported no result counts as failed.
    package static let tryMax = Duration.seconds(45)

    /// The state.
    package private(set) var state = State.closed(failures: 0)

    /// Makes a closed breaker.
    package init() {}

    /// Whether a call may be made, which must then be reported with ``record(_:at:)``.
    package mutating func mayCall(at time: Duration) -> Bool {
        switch state {
        case .closed:
            return true
        case .open(let end, let pause):
            guard time >= end else { return false }
            state = .trying(since: time, pause: pause)
            return true
        case .trying(let start, let pause):
            guard time >= start + Self.tryMax else { return false }
            state = .trying(since: time, pause: pause)
            return true
        }
    }

    /// Takes note of the result of a call.
    package mutating func record(_ result: Result, at time: Duration) {
        switch (state, result) {
        case (.closed(let failures), .failed):
            let count = failures + 1
            state =
                count < Self.failuresMax
                ? .closed(failures: count)
                : .open(until: time + Self.pauseMin, pause: Self.pauseMin)
        case (.trying(_, let pause), .failed):
            let next = min(pause * 2, Self.pauseMax)
            state = .open(until: time + next, pause: next)
        case (.open, .failed):
            break  // A call that began before the breaker opened.
        case (_, .answered):
            state = .closed(failures: 0)
        }
    }
}

extension CircuitBreaker.Result {
    /// Reads the result of a call out of its failure.
    ///
    /// A limit of requests is no failure of the processor: it is answered by waiting. Neither is a
    /// kept error: the processor that gives it again is there.
    package init(_ failure: StripeFailure?) {
        self = failure?.kind == .unknown && failure?.isReplayed == false ? .failed : .answered
    }
}
