import Synchronization

/// The room of a lane for batches that are left to themselves, because the processor takes long.
///
/// One slow call thus does not hold up the batches after it. There is room for a few only, so that a
/// processor that answers nothing is not called without end.
final class Stragglers: Sendable {
    private struct State {
        var nextNumber = 0
        /// The batches that were left to themselves and have not ended.
        var left: Set<Int> = []
        /// The batches that somebody waits for.
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var ended: Set<Int> = []
    }

    private let state = Mutex(State())
    private let countMax: Int
    private let patience: Duration

    /// Makes room for a number of batches.
    ///
    /// - Parameters:
    ///   - countMax: The most batches that are left to themselves.
    ///   - patience: The time for which every batch is waited for.
    init(countMax: Int, patience: Duration) {
        self.countMax = countMax
        self.patience = patience
    }

    /// Whether another batch could be left to itself.
    var hasRoom: Bool { state.withLock { $0.left.count < countMax } }

    /// Carries out a batch, and waits for its end or for the end of the patience.
    ///
    /// If there is no room, it waits for the end, even if the task is cancelled.
    func carryOut(
        in group: inout DiscardingTaskGroup,
        _ batch: @escaping @Sendable () async -> Void
    ) async {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        group.addTask {
            await batch()
            self.end(number)
        }
        let timer = Task {
            // A cancelled timer has nobody left who waits for it.
            try? await Task.sleep(for: patience)
            leave(number)
        }
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                guard state.ended.remove(number) == nil else { return true }
                guard !state.left.contains(number) else { return true }
                state.waiting[number] = continuation
                return false
            }
            if hasEnded { continuation.resume() }
        }
        timer.cancel()
    }

    private func end(_ number: Int) {
        let waiting = state.withLock { state in
            guard state.left.remove(number) == nil else { return nil as Continuation? }
            let waiting = state.waiting.removeValue(forKey: number)
            if waiting == nil { state.ended.insert(number) }
            return waiting
        }
        waiting?.resume()
    }

    private func leave(_ number: Int) {
        let waiting = state.withLock { state in
            guard state.left.count < countMax,
                let waiting = state.waiting.removeValue(forKey: number)
            else { return nil as Continuation? }
            state.left.insert(number)
            return waiting
        }
        waiting?.resume()
    }

    private typealias Continuation = CheckedContinuation<Void, Never>
}
