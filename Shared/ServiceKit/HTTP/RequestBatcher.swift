import HTTPTypes
public import Logging
import Metrics
import Postgres
public import ServiceLifecycle
import Synchronization

/// Groups concurrent requests into batches, so that many requests share one database commit.
///
/// A request that finds the batcher idle is performed at once. Requests that arrive meanwhile
/// gather and form the next batch. Under high load the batches grow; under low load no request
/// waits for others. In between, a batcher may rest after a small batch for twice as long as the
/// batch took. What follows from the requests then comes in a third as many batches.
///
/// A batch of many requests means that more arrive. It is followed by a rest as long as itself, in
/// which the next one gathers: few large database transactions cost less than many small ones.
///
/// Every accepted request is answered: graceful shutdown performs everything that was submitted
/// before. A request whose time is up before its batch is done is answered 503 `try_again`.
///
/// Failed batches are logged, at most every ten seconds.
public final class RequestBatcher<Request: Sendable, Response: Sendable>: Service, Sendable {
    private struct Pending {
        var request: Request
        var number: UInt64
    }

    /// A caller that waits for an answer.
    private struct Waiter {
        var continuation: CheckedContinuation<Response, any Error>
        /// The time when the caller stops waiting; `nil` if it has no limit.
        var deadline: ContinuousClock.Instant?
        var isPerformed = false
    }

    private struct State {
        /// Requests that wait for a batch.
        ///
        /// Those before index `first` are already taken.
        var pending: [Pending] = []
        var first = 0
        var lastNumber: UInt64 = 0
        /// The callers that are not answered yet, by the number of their request.
        var waiters: [UInt64: Waiter] = [:]
        /// Whether a task answers the callers whose time is up.
        var isWatched = false
        /// Whether a task performs batches.
        var isPerforming = false
        var isStopping = false
        var drained: CheckedContinuation<Void, Never>?

        var pendingCount: Int { pending.count - first }

        /// Takes the next batch, without requests whose callers no longer wait.
        mutating func take(_ count: Int) -> [Pending] {
            var batch: [Pending] = []
            while first < pending.count, batch.count < count {
                let next = pending[first]
                first += 1
                guard waiters[next.number] != nil else { continue }
                waiters[next.number]?.isPerformed = true
                batch.append(next)
            }
            if first == pending.count {
                pending.removeAll(keepingCapacity: true)
                first = 0
            } else if first >= 4096 {
                pending.removeFirst(first)
                first = 0
            }
            return batch
        }
    }

    /// The time between two checks for expired waits.
    ///
    /// Callers are answered up to this much early.
    private static var watchInterval: Duration { .milliseconds(100) }

    /// The smallest batch that is followed by a rest.
    private static var restedBatchMin: Int { 16 }

    private enum Admission {
        case startsBatch
        case waits
        case refused(HTTPProblem)
    }

    private let state = Mutex(State())
    private let batchSizeMax: Int
    private let pendingMax: Int
    private let waitMax: Duration?
    /// The size below which a batch is followed by a longer rest.
    private let fewRequests: Int
    private let restMax: Duration
    private let failures: OccasionalWarning
    private let perform: @Sendable ([Request]) async throws -> [Response]
    private let batchSizes: Recorder
    private let refusals: Counter

    /// Makes a batcher.
    ///
    /// - Parameters:
    ///   - name: The name in its metrics and log messages.
    ///   - batchSizeMax: The largest number of requests in one batch.
    ///   - pendingMax: The largest number of requests that wait; further ones are refused with 503
    ///     `overloaded`.
    ///   - waitMax: The longest time that a batch may wait for the database, and a request for its
    ///     answer unless its own budget (`PostgresWaitBudget`) is shorter; `nil` for requests that
    ///     come from no client.
    ///   - fewRequests: The size below which a batch is followed by a rest of twice its time, at most
    ///     half of `restMax`.
    ///   - restMax: The longest rest after a batch of many requests.
    ///   - logger: Receives the reasons why batches fail.
    ///   - perform: Performs a batch. It returns one response for each request, in their order. An
    ///     error that it throws goes to every request of the batch.
    public init(
        name: String,
        batchSizeMax: Int = 256,
        pendingMax: Int = 10_000,
        waitMax: Duration? = nil,
        restingBelow fewRequests: Int = 0,
        restMax: Duration = .milliseconds(20),
        logger: Logger,
        perform: @escaping @Sendable ([Request]) async throws -> [Response]
    ) {
        precondition(batchSizeMax > 0 && pendingMax > 0, "A batcher's bounds are above zero.")
        self.batchSizeMax = batchSizeMax
        self.pendingMax = pendingMax
        self.waitMax = waitMax
        self.fewRequests = fewRequests
        self.restMax = restMax
        let what = name.replacing("_", with: " ")
        failures = OccasionalWarning(
            "\(what.prefix(1).uppercased())\(what.dropFirst()) cannot be written",
            logger: logger
        )
        self.perform = perform
        batchSizes = Recorder(label: "batch_requests", dimensions: [("batcher", name)])
        refusals = Counter(label: "batch_refusals", dimensions: [("batcher", name)])
    }

    /// Waits for the response to a request.
    ///
    /// - Throws: An error of the batch, or ``HTTPProblem`` 503 `overloaded` if too many requests
    ///   wait, or 503 `try_again` once the service is shutting down or the time is up.
    public func submit(_ request: Request) async throws -> Response {
        let start = ContinuousClock.now
        let budget = PostgresWaitBudget.current
        let limit = [waitMax, budget?.left].compactMap { $0 }.min()
        defer { budget?.spend(start.duration(to: .now)) }
        return try await withCheckedThrowingContinuation { continuation in
            let waiter = Waiter(continuation: continuation, deadline: limit.map { start + $0 })
            switch admit(request, waiter) {
            case .waits:
                break
            case .startsBatch:
                // This is not a child task of the request, because the batch belongs to all of its
                // requests.
                Task.detached { await self.performBatches() }
            case .refused(let problem):
                refusals.increment()
                continuation.resume(throwing: problem)
            }
        }
    }

    /// Waits for the response to a request that takes time to prepare.
    ///
    /// It is prepared by its caller, so that no batch takes longer because of it, and no rest after one. A
    /// request that is refused without a batch is not prepared.
    ///
    /// - Parameter prepare: Makes the request.
    /// - Returns: The response.
    /// - Throws: The same as ``submit(_:)``.
    public func submit(preparing prepare: () -> Request) async throws -> Response {
        if let problem = state.withLock({ refusal(in: $0) }) {
            refusals.increment()
            throw problem
        }
        return try await submit(prepare())
    }

    /// Waits for graceful shutdown, then until everything submitted has been answered.
    public func run() async throws {
        // Cancellation means the same here: accept nothing more, and answer what was accepted.
        try? await gracefulShutdown()
        await withCheckedContinuation { continuation in
            let isDrained = state.withLock { state in
                state.isStopping = true
                guard state.isPerforming else { return true }
                state.drained = continuation
                return false
            }
            if isDrained { continuation.resume() }
        }
    }

    /// The number of requests that wait for a batch.
    var pendingCount: Int { state.withLock { $0.pendingCount } }
    /// The number of callers that are not answered yet.
    var waitingCount: Int { state.withLock { $0.waiters.count } }
    /// Whether requests are refused because of shutdown.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    private func admit(_ request: Request, _ waiter: Waiter) -> Admission {
        state.withLock { state in
            if let problem = refusal(in: state) { return .refused(problem) }
            state.lastNumber += 1
            state.pending.append(Pending(request: request, number: state.lastNumber))
            state.waiters[state.lastNumber] = waiter
            if waiter.deadline != nil, !state.isWatched {
                state.isWatched = true
                Task.detached { await self.watch() }
            }
            guard !state.isPerforming else { return .waits }
            state.isPerforming = true
            return .startsBatch
        }
    }

    /// The reason why no further request is taken; `nil` if one is.
    private func refusal(in state: State) -> HTTPProblem? {
        guard !state.isStopping else {
            return HTTPProblem.tryAgain("The service is shutting down. Try again.")
        }
        return state.pendingCount < pendingMax ? nil : overloaded()
    }

    /// Performs batches until nothing is pending.
    private func performBatches() async {
        while let batch = nextBatch() {
            let start = ContinuousClock.now
            batchSizes.record(batch.count)
            do {
                // The batch has its own budget, because that of one request must not limit the
                // others.
                let budget = waitMax.map { PostgresWaitBudget($0) }
                let responses = try await PostgresWaitBudget.$current.withValue(budget) {
                    try await perform(batch.map(\.request))
                }
                guard responses.count == batch.count else {
                    throw ServiceKitError(
                        .batchAnsweredWrongly,
                        "\(batch.count) requests were answered with \(responses.count) responses"
                    )
                }
                let waiters = takeWaiters(of: batch)
                for (waiter, response) in zip(waiters, responses) {
                    waiter?.continuation.resume(returning: response)
                }
            } catch {
                failures.warn(of: error, count: batch.count)
                for waiter in takeWaiters(of: batch) {
                    waiter?.continuation.resume(throwing: error)
                }
            }
            await rest(after: batch.count, start.duration(to: .now))
        }
    }

    /// Lets the next batch gather.
    private func rest(after count: Int, _ work: Duration) async {
        let rest: Duration
        if count >= Self.restedBatchMin {
            rest = min(work, restMax)
        } else if count < fewRequests {
            rest = min(work * 2, restMax / 2)
        } else {
            return
        }
        let isNeeded = state.withLock { !$0.isStopping && $0.pendingCount < batchSizeMax }
        // This task is never cancelled, because nothing holds a reference to it.
        if isNeeded { try? await Task.sleep(for: rest) }
    }

    /// The callers that wait for the answers of a batch; `nil` in place of one whose time was up.
    private func takeWaiters(of batch: [Pending]) -> [Waiter?] {
        state.withLock { state in
            batch.map { state.waiters.removeValue(forKey: $0.number) }
        }
    }

    /// Answers callers whose time is up, until nobody waits.
    private func watch() async {
        var isNeeded = true
        while isNeeded {
            // This task is never cancelled, because nothing holds a reference to it.
            try? await Task.sleep(for: Self.watchInterval)
            let now = ContinuousClock.now
            let expired: [Waiter]
            (expired, isNeeded) = state.withLock { state in
                let moment = now + Self.watchInterval
                let numbers = state.waiters.filter {
                    $0.value.deadline.map { $0 <= moment } ?? false
                }
                let expired = numbers.keys.compactMap { state.waiters.removeValue(forKey: $0) }
                state.isWatched = !state.waiters.isEmpty
                return (expired, state.isWatched)
            }
            for waiter in expired {
                waiter.continuation.resume(
                    throwing: HTTPProblem.tryAgain(
                        waiter.isPerformed
                            ? "Nobody knows yet whether this was done. Ask again: it is not done twice."
                            : "The service cannot reach what it needs at present. Try again."
                    )
                )
            }
        }
    }

    /// Takes the next batch, or notes that nothing is left to do.
    private func nextBatch() -> [Pending]? {
        let (batch, drained) = state.withLock {
            state -> ([Pending]?, CheckedContinuation<Void, Never>?) in
            let batch = state.take(batchSizeMax)
            guard batch.isEmpty else { return (batch, nil) }
            state.isPerforming = false
            let drained = state.drained
            state.drained = nil
            return (nil, drained)
        }
        drained?.resume()
        return batch
    }

    private func overloaded() -> HTTPProblem {
        HTTPProblem(
            .serviceUnavailable,
            code: "overloaded",
            title: "Overloaded",
            detail: "Too many requests wait already. Try again in a moment.",
            retryAfter: .seconds(1)
        )
    }
}
