import HTTPTypes
import Metrics
public import ServiceLifecycle
import Synchronization

/// Groups concurrent requests into batches, so that many of them share one database commit.
///
/// A request that finds the batcher idle is performed at once; those that arrive meanwhile gather
/// and are the next batch. So under much load batches grow, and under little load nobody waits for
/// company.
///
/// What is taken is answered: graceful shutdown performs everything that was submitted before.
public final class RequestBatcher<Request: Sendable, Response: Sendable>: Service, Sendable {
    private struct Pending {
        var request: Request
        var continuation: CheckedContinuation<Response, any Error>
    }

    private struct State {
        /// Requests that wait for a batch; those before `first` are taken already.
        var pending: [Pending] = []
        var first = 0
        /// How many batches are being performed.
        var performing = 0
        var isStopping = false
        var drained: CheckedContinuation<Void, Never>?

        var pendingCount: Int { pending.count - first }

        mutating func take(_ count: Int) -> [Pending] {
            // A copy: a slice would keep the storage, and the next append would copy all of it.
            let batch = Array(pending[first..<min(pending.count, first + count)])
            first += batch.count
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

    private enum Admission {
        case startsBatch
        case waits
        case refused(HTTPProblem)
    }

    private let state = Mutex(State())
    private let batchSizeMax: Int
    private let pendingMax: Int
    private let concurrency: Int
    private let perform: @Sendable ([Request]) async throws -> [Response]
    private let batchSizes: Recorder
    private let refusals: Counter

    /// Makes a batcher.
    ///
    /// - Parameters:
    ///   - name: Names its metrics.
    ///   - batchSizeMax: The most requests in one batch.
    ///   - pendingMax: The most requests that wait; further ones are refused with 503 `overloaded`.
    ///   - concurrency: How many batches are performed at once.
    ///   - perform: Performs a batch. Returns one response for each request, in their order. What
    ///     it throws goes to every request of the batch.
    public init(
        name: String,
        batchSizeMax: Int = 256,
        pendingMax: Int = 10_000,
        concurrency: Int = 1,
        perform: @escaping @Sendable ([Request]) async throws -> [Response]
    ) {
        precondition(
            batchSizeMax > 0 && pendingMax > 0 && concurrency > 0,
            "A batcher's bounds are above zero."
        )
        self.batchSizeMax = batchSizeMax
        self.pendingMax = pendingMax
        self.concurrency = concurrency
        self.perform = perform
        batchSizes = Recorder(label: "batch_requests", dimensions: [("batcher", name)])
        refusals = Counter(label: "batch_refusals", dimensions: [("batcher", name)])
    }

    /// Waits for the response to a request.
    ///
    /// - Throws: What performing the batch throws, or ``HTTPProblem`` 503 `overloaded` if too many
    ///   requests wait, or 503 `try_again` once the service is shutting down.
    public func submit(_ request: Request) async throws -> Response {
        try await withCheckedThrowingContinuation { continuation in
            switch admit(Pending(request: request, continuation: continuation)) {
            case .waits:
                break
            case .startsBatch:
                // Not a child of this request: the batch belongs to all who are in it.
                Task.detached { await self.performBatches() }
            case .refused(let problem):
                refusals.increment()
                continuation.resume(throwing: problem)
            }
        }
    }

    /// Waits for graceful shutdown, then until everything submitted has been answered.
    public func run() async throws {
        // Cancellation has the same meaning here: stop taking, answer what was taken.
        try? await gracefulShutdown()
        await withCheckedContinuation { continuation in
            let isDrained = state.withLock { state in
                state.isStopping = true
                guard state.performing > 0 else { return true }
                state.drained = continuation
                return false
            }
            if isDrained { continuation.resume() }
        }
    }

    /// How many requests wait for a batch.
    var pendingCount: Int { state.withLock { $0.pendingCount } }
    /// Whether requests are refused because of shutdown.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    private func admit(_ pending: Pending) -> Admission {
        state.withLock { state in
            if state.isStopping {
                return .refused(.tryAgain("The service is shutting down. Try again."))
            }
            guard state.pendingCount < pendingMax else {
                return .refused(overloaded())
            }
            state.pending.append(pending)
            guard state.performing < concurrency else { return .waits }
            state.performing += 1
            return .startsBatch
        }
    }

    /// Performs batches until nothing is pending.
    private func performBatches() async {
        while let batch = nextBatch() {
            batchSizes.record(batch.count)
            do {
                let responses = try await perform(batch.map(\.request))
                guard responses.count == batch.count else {
                    throw ServiceKitError(
                        .batchAnsweredWrongly,
                        "\(batch.count) requests were answered with \(responses.count) responses"
                    )
                }
                for (pending, response) in zip(batch, responses) {
                    pending.continuation.resume(returning: response)
                }
            } catch {
                for pending in batch {
                    pending.continuation.resume(throwing: error)
                }
            }
        }
    }

    /// Takes the next batch, or notes that this worker has nothing left to do.
    private func nextBatch() -> [Pending]? {
        let (batch, drained) = state.withLock {
            state -> ([Pending]?, CheckedContinuation<Void, Never>?) in
            guard state.pendingCount == 0 else { return (state.take(batchSizeMax), nil) }
            state.performing -= 1
            guard state.performing == 0 else { return (nil, nil) }
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
