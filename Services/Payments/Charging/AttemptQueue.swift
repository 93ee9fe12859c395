import EventTypes
import Synchronization

/// A bounded queue in memory of committed attempts that wait for the processor.
///
/// The queue is only a short cut. Every attempt is also a row in the database; one that does not
/// fit into the queue is read from there when its lease ends.
final class AttemptQueue: Sendable {
    private struct State {
        /// The waiting attempts, in the pieces in which they came.
        ///
        /// One array for all would double its room as it grows, and keep it after a backlog.
        var pieces: [ArraySlice<ProcessorAttempt>] = []
        /// Pieces before this one are taken already.
        var first = 0
        /// The number of waiting attempts.
        var count = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isClosed = false

        mutating func append(_ piece: ArraySlice<ProcessorAttempt>) {
            guard !piece.isEmpty else { return }
            pieces.append(piece)
            count += piece.count
        }

        /// Takes the oldest attempts, so many at most.
        mutating func takeFirst(_ countMax: Int) -> [ProcessorAttempt] {
            var batch: [ProcessorAttempt] = []
            while batch.count < countMax, first < pieces.count {
                let part = pieces[first].prefix(countMax - batch.count)
                batch += part
                pieces[first] = pieces[first].dropFirst(part.count)
                if pieces[first].isEmpty {
                    // A part of an array keeps all of it.
                    pieces[first] = []
                    first += 1
                }
            }
            count -= batch.count
            if first == pieces.count {
                pieces = []
                first = 0
            } else if first >= 1024 {
                pieces.removeFirst(first)
                first = 0
            }
            return batch
        }
    }

    /// The least share of a caller: smaller database transactions would cost more than they save.
    private static let shareMin = 64

    private let state = Mutex(State())
    private let countMax: Int

    init(countMax: Int) { self.countMax = countMax }

    /// The number of waiting attempts.
    var count: Int { state.withLock { $0.count } }

    /// The number of callers that wait for attempts.
    var callerCount: Int { state.withLock { $0.waiting.count } }

    /// Adds attempts.
    ///
    /// - Returns: The number of attempts that did not fit.
    @discardableResult
    func append(_ attempts: [ProcessorAttempt]) -> Int {
        let (rejected, waiting) = state.withLock { state in
            let room = state.isClosed ? 0 : max(countMax - state.count, 0)
            state.append(attempts.prefix(room))
            let waiting = state.count > 0 ? state.waiting.popLast() : nil
            return (max(attempts.count - room, 0), waiting)
        }
        waiting?.resume()
        return rejected
    }

    /// Waits for attempts and takes the oldest of them.
    ///
    /// - Parameters:
    ///   - max: The most attempts.
    ///   - isShared: Whether callers that wait meanwhile get equal shares, so that none of them waits while
    ///     another one works for long.
    /// - Returns: The attempts; an empty array only once the queue is closed and empty.
    func next(_ max: Int, isShared: Bool = false) async -> [ProcessorAttempt] {
        while true {
            if let batch = take(max, isShared) { return batch }
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
            state.pieces.joined().filter { $0.dueAt ?? time <= time }.map(\.key)
        }
    }

    /// Notes that the leases of waiting attempts were renewed.
    func renew(_ keys: Set<AttemptKey>, until leaseEnd: MachineTime) {
        state.withLock { state in
            for piece in state.pieces.indices {
                for index in state.pieces[piece].indices
                where keys.contains(state.pieces[piece][index].key) {
                    state.pieces[piece][index].dueAt = leaseEnd
                }
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
    private func take(_ limit: Int, _ isShared: Bool) -> [ProcessorAttempt]? {
        let (batch, waiting) = state.withLock {
            state -> ([ProcessorAttempt]?, CheckedContinuation<Void, Never>?) in
            guard state.count > 0 else { return (state.isClosed ? [] : nil, nil) }
            let callers = isShared ? state.waiting.count + 1 : 1
            let share = max((state.count + callers - 1) / callers, Self.shareMin)
            let batch = state.takeFirst(min(limit, share))
            return (batch, state.count > 0 ? state.waiting.popLast() : nil)
        }
        waiting?.resume()
        return batch
    }
}
