import EventTypes
import Messaging
import Postgres
import StoreTracing

/// Carries out commands to the store's clock.
///
/// Each command is one database transaction, which locks the clock and, if the clock changes,
/// appends its event. This process follows the change after the commit; the others follow the event.
struct ClockHandler: Sendable {
    let client: PostgresClient
    /// The store's clock in this process.
    let clock: ProcessClock
    let machineNow: @Sendable () -> MachineTime
    /// The work of this service that falls due by the clock.
    var works: [DueWorkQueue] = []
    /// Called after a commit that changed the clock.
    let didCommit: @Sendable () -> Void

    /// The clock after a command, and the time that it shows.
    struct Reply: Sendable {
        let state: ClockState
        let now: StoreTime
        /// The newest advance.
        var advance: AdvanceRecord?
        /// The names of the work that an advance waits for.
        var waitsFor: [String] = []
        /// Whether the command changed anything.
        let isChanged: Bool
    }

    /// Waits until the database has the tables of the clock.
    func waitForSchema() async throws { try await client.waitForSchema() }

    /// Reads the clock without its advances.
    func load() async throws -> ClockState {
        try await client.withConnection { [self] connection in
            newest(try ClockStore.load(on: connection))
        }
    }

    /// Reads the clock.
    func read() async throws -> Reply {
        try await client.withConnection { [self] connection in
            let state = newest(try ClockStore.load(on: connection))
            var reply = reply(state, at: machineNow())
            reply.advance = try ClockStore.newestAdvance(on: connection)
            guard case .advancing = state.status else { return reply }
            for work in works {
                // If it cannot be read, the keeper fails the advance and says why.
                let due = (try? work.nextDue(on: connection)) ?? [:]
                reply.waitsFor += due.filter { $0.value <= reply.now }.keys.sorted()
            }
            return reply
        }
    }

    /// The earliest time at which some work falls due, read without a lock; `nil` if no work is open.
    func nextDue() async throws -> StoreTime? {
        try await client.withConnection { [self] connection in try nextDue(on: connection) }
    }

    /// The earliest time at which some work falls due; `nil` if there is no open work.
    func nextDue(on connection: isolated PostgresConnection) throws -> StoreTime? {
        var next: StoreTime?
        for work in works {
            for time in try work.nextDue(on: connection).values {
                next = min(next ?? time, time)
            }
        }
        return next
    }

    /// Begins an advance, once for each key.
    func advance(
        _ amount: ClockAdvance.Amount,
        key: IdempotencyKey,
        end: StoreTime,
        trace: TraceContext
    ) async throws -> Result<Reply, ClockRefusal> {
        try await perform(end: end, trace: trace) { _, _, connection in
            let earlier = try ClockStore.advance(begunWith: key, on: connection)
            return .advance(amount, key: key, earlier: earlier)
        }
    }

    /// Carries out a command that needs nothing but the clock.
    func perform(
        _ command: ClockCommand,
        end: StoreTime,
        trace: TraceContext?
    ) async throws -> Result<Reply, ClockRefusal> {
        try await perform(end: end, trace: trace) { _, _, _ in command }
    }

    /// Confirms that the machines' clock is right, in a store whose clock nobody sets (rule S523).
    ///
    /// Every process that has stopped its work reads this, and goes on.
    ///
    /// - Returns: The clock.
    /// - Throws: `PostgresError`.
    func confirm() async throws -> Reply {
        try await client.withTransaction { [self] connection in
            let state = try ClockStore.lock(on: connection)
            let reply = reply(state, at: machineNow())
            try ClockStore.confirm(reply.now, on: connection)
            return reply
        }
    }

    /// Locks the clock and carries out the command that the body chooses.
    ///
    /// - Parameters:
    ///   - end: The last time at which receipts can be signed.
    ///   - trace: The trace of the request, if it is one.
    ///   - choose: Chooses a command by the locked clock and its time; `nil` to leave it as it is.
    /// - Returns: The clock, or the reason why the command was refused.
    /// - Throws: `PostgresError`, or an error of the body.
    func perform(
        end: StoreTime,
        trace: TraceContext?,
        _ choose:
            @escaping @Sendable (ClockState, StoreTime, isolated PostgresConnection) throws
            -> ClockCommand?
    ) async throws -> Result<Reply, ClockRefusal> {
        try await clock.hold {
            let result = try await decide(end: end, trace: trace, choose)
            if case .success(let reply) = result {
                clock.follow(reply.state.followed.clock, step: reply.state.followed.step)
                if reply.isChanged { didCommit() }
            }
            return result
        }
    }

    /// Locks the clock, and carries out the command in one database transaction.
    private func decide(
        end: StoreTime,
        trace: TraceContext?,
        _ choose:
            @escaping @Sendable (ClockState, StoreTime, isolated PostgresConnection) throws
            -> ClockCommand?
    ) async throws -> Result<Reply, ClockRefusal> {
        try await client.withTransaction { [self] connection in
            var state = newest(try ClockStore.lock(on: connection))
            // This process may have given out a later time, if the database's clock went back.
            if clock.step == state.followed.step { state.followed.see(clock.now) }
            let machine = ClockStateMachine(machineTime: machineNow(), end: end)
            var copy = state
            let now = copy.read(at: machine.machineTime)
            guard let command = try choose(state, now, connection) else {
                return .success(reply(state, at: machine.machineTime))
            }
            switch machine.apply(command, to: state) {
            case .refused(let refusal): return .failure(refusal)
            case .unchanged: return .success(reply(state, at: machine.machineTime))
            case .moved(let next):
                if case .advance = command, case .advancing(let advance) = next.status {
                    try ClockStore.insert(advance, on: connection)
                }
                try ClockStore.save(next, on: connection)
                let reply = reply(next, at: machine.machineTime, isChanged: true)
                if next.followed.step != state.followed.step {
                    try Self.publish(reply, trace, on: connection)
                }
                return .success(reply)
            }
        }
    }

    /// Publishes the newest change again if the broker has lost the log with it.
    ///
    /// The relay publishes again the events that consumers have not confirmed. No consumer confirms
    /// a change of the clock, and every process that starts reads all of them.
    ///
    /// - Returns: Whether it was published again.
    @discardableResult
    func announceAfterLoss() async throws -> Bool {
        let isLost = try await client.withConnection { connection in
            try ClockStore.epoch(on: connection) < EventReplay.epoch(on: connection)
        }
        guard isLost else { return false }
        try await client.withTransaction { [self] connection in
            let state = try ClockStore.lock(on: connection)
            guard state.followed.step > 0 else { return }
            try Self.publish(reply(state, at: machineNow()), nil, on: connection)
        }
        didCommit()
        return true
    }

    /// The state with the newest clock that is known.
    ///
    /// This process knows a newer one only if the database was restored from a backup: by its
    /// event.
    private func newest(_ state: ClockState) -> ClockState {
        let followed = clock.followed
        guard followed.step > state.followed.step else { return state }
        var state = state
        state.followed = followed
        return state
    }

    private static func publish(
        _ reply: Reply,
        _ trace: TraceContext?,
        on connection: isolated PostgresConnection
    ) throws {
        try ClockStore.save(epoch: EventReplay.epoch(on: connection), on: connection)
        let event = try OutboxEvent(
            reply.state.followed,
            at: reply.now,
            traceparent: trace
        )
        try Outbox.append([event], on: connection)
    }

    private func reply(
        _ state: ClockState,
        at machineTime: MachineTime,
        isChanged: Bool = false
    ) -> Reply {
        var copy = state
        return Reply(state: state, now: copy.read(at: machineTime), isChanged: isChanged)
    }
}
