import Synchronization

/// The processor's answers to a batch of calls, gathered as they come.
///
/// What has come is taken together, so that answers of the same moment share one database
/// transaction. An answer that takes longer holds up none of the others.
final class AnswerGatherer<Answer: Sendable>: Sendable {
    private struct State {
        var answers: [Answer] = []
        /// The number of attempts without an answer.
        var open: Int
        var isEnded = false
        /// Whether the pause for further answers is over.
        var isRipe = false
        var waiter: Waiter?

        /// Whether no further answer is expected.
        var isComplete: Bool { isEnded || open <= 0 }
    }

    /// The task that waits for the state to fulfil a condition.
    private struct Waiter {
        let isReady: @Sendable (State) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private let state: Mutex<State>
    private let pause: Duration

    /// Makes a gatherer.
    ///
    /// - Parameters:
    ///   - count: The number of expected answers.
    ///   - pause: The time to wait for further answers after the first one.
    init(expecting count: Int, pause: Duration = .milliseconds(5)) {
        state = Mutex(State(open: count))
        self.pause = pause
    }

    /// Adds an answer.
    func add(_ answer: Answer) {
        change { state in
            state.answers.append(answer)
            state.open -= 1
        }
    }

    /// Ends the batch: what has no answer by now gets none.
    func end() {
        change { $0.isEnded = true }
    }

    /// Waits for an answer, and a moment for further ones, and takes all of them.
    ///
    /// - Returns: The answers in the order in which they came; `nil` once no further one comes.
    func next() async -> [Answer]? {
        await wait { !$0.answers.isEmpty || $0.isComplete }
        if !state.withLock(\.isComplete) {
            let timer = Task {
                // A cancelled timer has nobody left who waits for it.
                try? await Task.sleep(for: pause)
                change { $0.isRipe = true }
            }
            await wait { $0.isRipe || $0.isComplete }
            timer.cancel()
        }
        return state.withLock { state in
            defer {
                state.answers = []
                state.isRipe = false
            }
            return state.answers.isEmpty ? nil : state.answers
        }
    }

    /// Waits until the state fulfils a condition, even if the task is cancelled.
    private func wait(until isReady: @escaping @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let mustWait = state.withLock { state in
                guard !isReady(state) else { return false }
                state.waiter = Waiter(isReady: isReady, continuation: continuation)
                return true
            }
            if !mustWait { continuation.resume() }
        }
    }

    private func change(_ body: (inout sending State) -> Void) {
        let waiter = state.withLock { state in
            body(&state)
            guard let waiter = state.waiter, waiter.isReady(state) else {
                return nil as CheckedContinuation<Void, Never>?
            }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume()
    }
}
