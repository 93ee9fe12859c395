public import EventTypes
public import Postgres
import Synchronization

/// The store's clock as this process follows it.
///
/// Everything in a process that asks for the store's time asks here. ``ClockFollower`` reads the
/// changes of the clock; `payments` also takes over what it has committed itself.
///
/// Safe to use from any task.
public final class ProcessClock: Sendable {
    private struct State {
        var followed = FollowedClock()
        /// The time by which events were ahead of a clock that was never set.
        var lead = Duration.zero
        /// Whether every change is known that was published before this process began to read.
        var isCurrent = false
        /// The time at which the clock is held.
        var held: StoreTime?
        /// The number of calls that hold the clock.
        var holds = 0
    }

    /// The difference between two databases' clocks that is no reason to wait.
    private static let tolerance = Duration.seconds(1)

    private let client: PostgresClient
    private let waitMax: Duration
    private let state = Mutex(State())

    /// Makes a clock that was never set.
    ///
    /// - Parameters:
    ///   - client: The service's database, whose clock is the machines' clock of the store.
    ///   - waitMax: The longest time for which an event waits for the clock.
    public init(client: PostgresClient, waitMax: Duration = .seconds(5)) {
        self.client = client
        self.waitMax = waitMax
    }

    /// The store's time.
    ///
    /// Before the first connection this is derived from the machine's own time, which may be wrong.
    /// Such a time is returned and not remembered, so that it does not hold the clock back later.
    public var now: StoreTime {
        guard let time = client.clock.known.map(MachineTime.init) else {
            var copy = followed
            return copy.now(at: client.machineTime)
        }
        return state.withLock { state in
            // What the process saw meanwhile may be later.
            if let held = state.held { return max(held, state.followed.latest ?? held) }
            return state.followed.now(at: time)
        }
    }

    /// The clock of the newest change that this process knows.
    public var followed: FollowedClock { state.withLock { $0.followed } }

    /// The number of the newest change; 0 if the clock was never set.
    public var step: Int64 { state.withLock { $0.followed.step } }

    /// The reason why a store in production is not ready, as a sentence without its full stop; `nil`
    /// if the clock was never set.
    public var problemInProduction: String? {
        step == 0
            ? nil : "the clock of this store was set, which only STORE_ENVIRONMENT=Sandbox allows"
    }

    /// Whether every change is known that was published before this process began to read.
    public var isCurrent: Bool { state.withLock { $0.isCurrent } }

    /// Adopts a change of the clock, if it is newer.
    ///
    /// - Returns: Whether it is newer.
    @discardableResult
    public func follow(_ clock: StoreClock, step: Int64) -> Bool {
        state.withLock { state in
            // Times that were given before the clock had been read were a guess, and nothing was sold
            // by them: the service was not ready.
            if !state.isCurrent, state.followed.step == 0 { state.followed = FollowedClock() }
            return state.followed.follow(clock, step: step)
        }
    }

    /// Holds the clock while a body changes it.
    ///
    /// Otherwise this process would give later times between the moment at which a change is decided
    /// and the moment at which it is known here. Time never runs backwards, so the clock would then
    /// be frozen a little after the time of the change.
    ///
    /// - Parameter body: Decides about a change, commits it, and lets this process follow it.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
    public func hold<R>(while body: () async throws -> R) async throws -> R {
        let now = now
        state.withLock { state in
            state.holds += 1
            state.held = state.held ?? now
        }
        defer {
            state.withLock { state in
                state.holds -= 1
                if state.holds == 0 { state.held = nil }
            }
        }
        return try await body()
    }

    /// Adopts the change that the service read before this process started.
    func load() async throws {
        try await client.waitForSchema()
        let change = try await client.withConnection { connection in
            try FollowedClockStore.load(on: connection)
        }
        if let change { follow(change.clock, step: change.step) }
    }

    /// Stores the newest change for the next process, if it is newer than the stored one.
    ///
    /// - Parameter kept: The step of the stored change.
    /// - Returns: The step of the change that is stored from now on.
    /// - Throws: `PostgresError`.
    func save(after kept: Int64) async throws -> Int64 {
        let followed = followed
        guard followed.step > kept else { return kept }
        try await client.withConnection { connection in
            let change = ClockChanged(step: followed.step, clock: followed.clock)
            try FollowedClockStore.save(change, on: connection)
        }
        return followed.step
    }

    /// Notes that every change is known that was published before this process began to read.
    func becomeCurrent() { state.withLock { $0.isCurrent = true } }

    /// Waits until the clock is current and has reached the time of events.
    ///
    /// An event from a process whose clock has a newer step can be read before that step. The
    /// effect of the event must not be dated before it. The wait is bounded. After it, a clock that
    /// was set moves to the events' time, because two running clocks may differ a little when they
    /// are stopped. A clock that was never set does not move, and waits only once, for a database
    /// whose clock is far ahead.
    func catchUp(with events: [ReceivedEvent]) async throws {
        guard let time = events.lazy.map(\.time).max() else { return }
        let deadline = ContinuousClock.now + waitMax
        while !hasReached(time), ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(10))
        }
        guard isCurrent else {
            throw MessagingError(
                .clockUnknown,
                "the store's clock is not known yet; its topic is being read",
                isRetriable: true
            )
        }
        let lead = time.duration(since: now)
        state.withLock { state in
            state.followed.see(time)
            if state.followed.step == 0 { state.lead = max(state.lead, lead) }
        }
    }

    private func hasReached(_ time: StoreTime) -> Bool {
        let state = state.withLock { $0 }
        guard state.isCurrent else { return false }
        // As long as nobody has set the clock, it differs as the databases' clocks do.
        let tolerance =
            state.followed.step == 0
            ? max(PostgresClock.differenceMax, state.lead + Self.tolerance) : Self.tolerance
        return now.advanced(by: tolerance) >= time
    }
}
