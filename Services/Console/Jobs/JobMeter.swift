import ClockAndIDs
import OperatorCore
import Synchronization

/// The progress of a job that is under way.
final class JobMeter: Sendable {
    private struct State {
        var done = 0
        var total = 0
        var begunWith: Int?
        var begunAt = ContinuousClock.now
        var lines: [VerificationProgress] = []
        var isAskedToStop = false
    }

    private let state: Mutex<State>

    /// Makes a meter of a job that does a number of things.
    init(total: Int = 0) {
        state = Mutex(State(total: total))
    }

    /// Notes how many things are done.
    func note(_ done: Int) {
        state.withLock { state in
            if state.begunWith == nil { state.begunWith = done }
            state.done = done
        }
    }

    /// Notes how far the services' rebuilds are.
    func note(_ lines: [VerificationProgress]) {
        state.withLock { state in
            state.lines = lines
            // A total that is counted later may lower the share; the bar never goes back.
            state.done = max(state.done, lines.map(\.percent).reduce(0, +))
            state.total = lines.count * 100
        }
    }

    /// Asks the job to stop where it can go on later.
    func askToStop() { state.withLock { $0.isAskedToStop = true } }

    /// Whether it was asked to stop.
    var isAskedToStop: Bool { state.withLock(\.isAskedToStop) }

    /// The values for the page of the job.
    var fields: [String: NowField] {
        let state = state.withLock { $0 }
        var fields = ["share": NowField("\(Self.percent(state.done, of: state.total))")]
        for line in state.lines { fields["proof.\(line.service)"] = NowField(line.text) }
        guard let begunWith = state.begunWith else { return fields }
        let seconds = max((ContinuousClock.now - state.begunAt) / .seconds(1), 0.001)
        let rate = Double(state.done - begunWith) / seconds
        // A count does not know how many there are.
        let whole = state.total > 0 ? " of \(state.total.grouped)" : ""
        fields["sent"] = NowField(state.done.grouped + whole)
        fields["rate"] = NowField("\(Int(rate)) a second")
        if rate >= 1 {
            let left = Double(max(0, state.total - state.done)) / rate
            fields["left"] = NowField("\(Age(milliseconds: Int64(left * 1000)))")
        }
        return fields
    }

    /// A share in percent, which is 100 only at the end.
    static func percent(_ done: Int, of total: Int) -> Int {
        total == 0 ? 0 : min(100, done * 100 / total)
    }
}
