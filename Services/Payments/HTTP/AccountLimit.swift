import EventTypes
import HTTPTypes
import ServiceKit
import Synchronization

/// Counts the requests of an account for which the processor is called, so that none uses up the
/// calls of all.
///
/// Each instance counts for itself, from minute to minute.
final class AccountLimit: Sendable {
    private struct State {
        var since: MachineTime
        var counts: [AccountKey: Int] = [:]
    }

    /// The length of a window.
    static let window = Duration.seconds(60)

    private let callsMax: Int
    private let state = Mutex<State?>(nil)

    /// Makes a limit.
    ///
    /// - Parameter callsMax: The most requests of an account in a window.
    init(callsMax: Int) { self.callsMax = callsMax }

    /// Counts a request.
    ///
    /// - Throws: `HTTPProblem`, 429, if the account has made too many.
    func count(_ account: AccountKey, at time: MachineTime) throws {
        let calls = state.withLock { state -> Int in
            var present = state ?? State(since: time)
            if time.duration(since: present.since) >= Self.window { present = State(since: time) }
            present.counts[account, default: 0] += 1
            state = present
            return present.counts[account, default: 0]
        }
        guard calls > callsMax else { return }
        throw HTTPProblem(
            .tooManyRequests,
            code: "too_many_requests_of_account",
            title: "The account sends too many requests",
            detail: "Each of these requests needs a call of the processor. Ask again in a minute.",
            retryAfter: Self.window
        )
    }
}
