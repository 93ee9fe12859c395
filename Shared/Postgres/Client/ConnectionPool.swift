import Synchronization

/// Carries out the decisions of ``PoolStateMachine``, and holds the connections and the waiting
/// callers.
final class ConnectionPool: Sendable {
    /// A connection that is lent to one caller, who gives it back with ``release(_:isUsable:)``.
    struct Lease: Sendable {
        let slot: PoolStateMachine.Slot
        let connection: PostgresConnection
    }

    private struct State {
        var machine: PoolStateMachine
        var connections: [PoolStateMachine.Slot: PostgresConnection] = [:]
        var waiters: [PoolStateMachine.Waiter: CheckedContinuation<Lease, any Error>] = [:]
        var lastWaiter: PoolStateMachine.Waiter = 0
        var timerRuns = false
        var lastFailure: PostgresError?
    }

    private let state: Mutex<State>
    private let acquireTimeout: Duration
    private let metrics: PostgresMetrics
    /// The slots that need a connection; the stream ends when the pool shuts down.
    let vacancies: AsyncStream<PoolStateMachine.Slot>
    private let vacancy: AsyncStream<PoolStateMachine.Slot>.Continuation

    init(settings: PostgresSettings, metrics: PostgresMetrics) {
        // A waiter costs a few hundred bytes. Callers in a longer queue would not be served in time
        // anyway.
        let machine = PoolStateMachine(size: settings.poolSize, waitersMax: 10_000)
        state = Mutex(State(machine: machine))
        acquireTimeout = settings.acquireTimeout
        self.metrics = metrics
        (vacancies, vacancy) = AsyncStream.makeStream()
        for slot in machine.slots.indices {
            vacancy.yield(slot)
        }
    }

    /// Whether at least one connection is open.
    var isConnected: Bool { state.withLock { $0.machine.liveCount > 0 } }

    /// Borrows a connection, and waits in the queue if necessary.
    ///
    /// - Parameter end: The time at which the wait ends, if it is before that of the acquire
    ///   timeout.
    /// - Returns: The connection, to be given back.
    /// - Throws: ``PostgresError``, or `CancellationError` if the task is cancelled.
    func acquire(before end: ContinuousClock.Instant? = nil) async throws -> Lease {
        if let lease = state.withLock({ Self.takeIdle(&$0) }) {
            return lease
        }
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait(as: waiter, before: end, continuation)
            }
        } onCancel: {
            fail([waiter], CancellationError())
        }
    }

    /// Gives a connection back.
    ///
    /// The caller has already closed a connection that is not usable.
    func release(_ lease: Lease, isUsable: Bool) {
        let (next, continuation) = state.withLock { state in
            let next = state.machine.release(lease.slot, isUsable: isUsable)
            return (next, Self.settle(next, lease, &state))
        }
        perform(next, lease, continuation)
    }

    /// Accepts a connection that was opened for a slot.
    func connected(_ slot: PoolStateMachine.Slot, _ connection: PostgresConnection) {
        let lease = Lease(slot: slot, connection: connection)
        let (next, continuation) = state.withLock { state in
            state.connections[slot] = connection
            state.lastFailure = nil
            let next = state.machine.connected(slot)
            return (next, Self.settle(next, lease, &state))
        }
        perform(next, lease, continuation)
    }

    /// Notes that a connection could not be opened for a slot.
    ///
    /// - Returns: The number of consecutive failures, `nil` if the slot must not try again; and
    ///   whether this is the first failure since any connection was open.
    func connectFailed(
        _ slot: PoolStateMachine.Slot,
        _ error: PostgresError
    ) -> (failures: Int?, isFirst: Bool) {
        state.withLock { state in
            defer { state.lastFailure = error }
            return (state.machine.connectFailed(slot), state.lastFailure == nil)
        }
    }

    /// Borrows all idle connections, to check them.
    func takeAllIdle() -> [Lease] {
        state.withLock { state in
            var leases: [Lease] = []
            while let lease = Self.takeIdle(&state) {
                leases.append(lease)
            }
            return leases
        }
    }

    /// Ends ``vacancies``, which signals the shutdown.
    func endVacancies() {
        vacancy.finish()
    }

    /// Refuses all waiting callers and lends no more connections.
    ///
    /// - Returns: The idle connections, to be closed.
    func shutDown() -> [PostgresConnection] {
        let (connections, continuations) = state.withLock { state in
            let (idle, waiters) = state.machine.shutDown()
            return (
                idle.compactMap { state.connections.removeValue(forKey: $0) },
                waiters.compactMap { state.waiters.removeValue(forKey: $0) }
            )
        }
        for continuation in continuations {
            continuation.resume(throwing: Self.shutDownError)
        }
        return connections
    }

    /// Reports the numbers of connections.
    func recordCounts() {
        let (live, idle, waiting) = state.withLock {
            ($0.machine.liveCount, $0.machine.idleCount, $0.machine.waitingCount)
        }
        metrics.record(live: live, idle: idle, waiting: waiting)
    }

    private static let shutDownError = PostgresError(.shutDown, "the client has been shut down")

    private static func takeIdle(_ state: inout State) -> Lease? {
        guard let slot = state.machine.takeIdle(), let connection = state.connections[slot] else {
            return nil
        }
        return Lease(slot: slot, connection: connection)
    }

    private func wait(
        as waiter: PoolStateMachine.Waiter,
        before end: ContinuousClock.Instant?,
        _ continuation: CheckedContinuation<Lease, any Error>
    ) {
        let patience = ContinuousClock.now + acquireTimeout
        let deadline = end.map { min($0, patience) } ?? patience
        let outcome: Result<Lease, any Error>? = state.withLock { state in
            // This check is made inside the lock: a later cancellation finds the waiter in the
            // queue.
            if Task.isCancelled {
                return .failure(CancellationError())
            }
            if let lease = Self.takeIdle(&state) {
                return .success(lease)
            }
            if state.machine.isShutDown {
                return .failure(Self.shutDownError)
            }
            guard state.machine.enqueue(waiter, deadline: deadline) else {
                return .failure(
                    PostgresError(.poolExhausted, "too many wait for a connection")
                )
            }
            state.waiters[waiter] = continuation
            if !state.timerRuns {
                state.timerRuns = true
                startTimer()
            }
            return nil
        }
        if let outcome {
            continuation.resume(with: outcome)
        }
    }

    /// Starts the one task that watches over all waits, and ends when nobody waits.
    ///
    /// It checks every 50 milliseconds, because a later caller may have less time.
    private func startTimer() {
        Task.detached { [self] in
            repeat {
                // This task is never cancelled, because nothing holds a reference to it.
                try? await Task.sleep(for: .milliseconds(50))
            } while expire()
        }
    }

    /// Refuses the callers whose time is up.
    ///
    /// - Returns: Whether any caller still waits.
    private func expire() -> Bool {
        let (expired, error, isWaitedFor) = state.withLock { state in
            let waiters = state.machine.expire(at: .now)
            let expired = waiters.compactMap { state.waiters.removeValue(forKey: $0) }
            let isWaitedFor = state.machine.waitingCount > 0
            state.timerRuns = isWaitedFor
            // If there is no open connection, the error that caused this is reported instead of a
            // busy pool.
            let cause =
                state.machine.liveCount > 0
                ? nil
                : state.lastFailure
                    ?? PostgresError(.connectFailed, "no connection could be opened in time")
            return (expired, cause, isWaitedFor)
        }
        let refusal = error ?? PostgresError(.poolExhausted, "no connection came free in time")
        for continuation in expired {
            continuation.resume(throwing: refusal)
        }
        return isWaitedFor
    }

    private func fail(_ waiters: [PoolStateMachine.Waiter], _ error: any Error) {
        let continuations = state.withLock { state in
            waiters.compactMap { waiter in
                state.machine.leave(waiter) ? state.waiters.removeValue(forKey: waiter) : nil
            }
        }
        for continuation in continuations {
            continuation.resume(throwing: error)
        }
    }

    private static func settle(
        _ next: PoolStateMachine.Next,
        _ lease: Lease,
        _ state: inout State
    ) -> CheckedContinuation<Lease, any Error>? {
        switch next {
        case .lend(let waiter): return state.waiters.removeValue(forKey: waiter)
        case .keepIdle: return nil
        case .replace, .close:
            state.connections[lease.slot] = nil
            return nil
        }
    }

    private func perform(
        _ next: PoolStateMachine.Next,
        _ lease: Lease,
        _ continuation: CheckedContinuation<Lease, any Error>?
    ) {
        switch next {
        case .lend: continuation?.resume(returning: lease)
        case .keepIdle: break
        case .replace: vacancy.yield(lease.slot)
        case .close: Task { await lease.connection.close() }
        }
    }
}
