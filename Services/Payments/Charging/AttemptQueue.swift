import EventTypes
import Synchronization

/// A bounded queue in memory of committed attempts that wait for the processor.
///
/// The queue is only a short cut. Every attempt is also a row in the database; one that does not
/// fit into the queue is read from there when its lease ends.
final class AttemptQueue: Sendable {
    private struct State {
        /// Attempts before `first` are taken already.
        var attempts: [ProcessorAttempt] = []
        var first = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isClosed = false

        var count: Int { attempts.count - first }
    }

    private let state = Mutex(State())
    private let countMax: Int

    init(countMax: Int) { self.countMax = countMax }

    /// The number of waiting attempts.
    var count: Int { state.withLock(\.count) }

    /// Adds attempts.
    ///
    /// - Returns: The number of attempts that did not fit.
    @discardableResult
    func append(_ attempts: [ProcessorAttempt]) -> Int {
        let (rejected, waiting) = state.withLock { state in
            let room = state.isClosed ? 0 : max(countMax - state.count, 0)
            state.attempts.append(contentsOf: attempts.prefix(room))
            let waiting = state.count > 0 ? state.waiting.popLast() : nil
            return (max(attempts.count - room, 0), waiting)
        }
        waiting?.resume()
        return rejected
    }

    /// Waits for attempts and takes the oldest of them.
    ///
    /// - Returns: At most `max` attempts; an empty array only once the queue is closed and empty.
    func next(_ max: Int) async -> [ProcessorAttempt] {
        while true {
            if let batch = take(max) { return batch }
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.count == 0, !state.isClosed else { return false }
                    state.waiting.append(continuation)
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        }
    }

    /// The waiting attempts whose lease ends by a time.
    func leases(endingBy time: MachineTime) -> [AttemptKey] {
        state.withLock { state in
            state.attempts[state.first...].filter { $0.dueAt ?? time <= time }.map(\.key)
        }
    }

    /// Notes that the leases of waiting attempts were renewed.
    func renew(_ keys: Set<AttemptKey>, until leaseEnd: MachineTime) {
        state.withLock { state in
            for index in state.attempts.indices.dropFirst(state.first)
            where keys.contains(state.attempts[index].key) {
                state.attempts[index].dueAt = leaseEnd
            }
        }
    }

    /// Closes the queue for new attempts; waiting ones can still be taken.
    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Takes the next batch: empty if the queue is closed and empty, `nil` if the caller has to
    /// wait.
    ///
    /// If the batch leaves attempts in the queue, another caller that waits is woken for them.
    private func take(_ max: Int) -> [ProcessorAttempt]? {
        let (batch, waiting) = state.withLock {
            state -> ([ProcessorAttempt]?, CheckedContinuation<Void, Never>?) in
            guard state.count > 0 else { return (state.isClosed ? [] : nil, nil) }
            let end = min(state.first + max, state.attempts.count)
            let batch = Array(state.attempts[state.first..<end])
            state.first = end
            if end == state.attempts.count {
                state.attempts.removeAll(keepingCapacity: true)
                state.first = 0
            } else if state.first >= 4096 {
                state.attempts.removeFirst(state.first)
                state.first = 0
            }
            return (batch, state.count > 0 ? state.waiting.popLast() : nil)
        }
        waiting?.resume()
        return batch
    }
}
