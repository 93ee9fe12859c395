/// Decides the next step of a connection pool of fixed size, and carries out nothing itself.
///
/// Each slot of the pool has one connection or is opening one. The pool keeps all its slots
/// connected and replaces broken connections. A caller that finds no idle connection waits in a
/// queue.
struct PoolStateMachine {
    /// The place of one connection in the pool.
    typealias Slot = Int
    /// A caller that waits for a connection.
    typealias Waiter = UInt64

    /// The state of a slot.
    enum SlotState: Equatable {
        case connecting(failures: Int)
        case idle
        case leased
        case closed
    }

    /// The next step for a connection that has just been opened or given back.
    enum Next: Equatable {
        /// It is lent to the caller that has waited longest.
        case lend(Waiter)
        /// It stays idle until the next caller comes.
        case keepIdle
        /// It is closed and the slot opens another.
        case replace
        /// It is closed for good: the pool has been shut down.
        case close
    }

    private(set) var slots: [SlotState]
    private(set) var isShutDown = false
    private var idle: [Slot] = []
    private var line: [(waiter: Waiter, deadline: ContinuousClock.Instant)] = []
    private var lineStart = 0
    private var waiting: Set<Waiter> = []
    private let waitersMax: Int

    /// Makes a pool without open connections.
    ///
    /// - Parameters:
    ///   - size: The number of slots.
    ///   - waitersMax: The largest number of callers that may wait at the same time.
    init(size: Int, waitersMax: Int) {
        slots = Array(repeating: .connecting(failures: 0), count: max(size, 1))
        self.waitersMax = waitersMax
    }

    /// The number of connections that are open.
    var liveCount: Int { slots.count { $0 == .idle || $0 == .leased } }

    /// The number of connections that are not in use.
    var idleCount: Int { idle.count }

    /// The number of waiting callers.
    var waitingCount: Int { waiting.count }

    /// Takes the idle connection that was used last, because its memory is most likely still
    /// cached.
    mutating func takeIdle() -> Slot? {
        guard !isShutDown, let slot = idle.popLast() else { return nil }
        slots[slot] = .leased
        return slot
    }

    /// Adds a caller to the queue.
    ///
    /// - Returns: Whether there was room.
    mutating func enqueue(_ waiter: Waiter, deadline: ContinuousClock.Instant) -> Bool {
        guard !isShutDown, waiting.count < waitersMax else { return false }
        waiting.insert(waiter)
        line.append((waiter, deadline))
        return true
    }

    /// Removes a caller from the queue.
    ///
    /// - Returns: Whether the caller was still in it.
    mutating func leave(_ waiter: Waiter) -> Bool {
        waiting.remove(waiter) != nil
    }

    /// Removes the callers whose time is up, wherever they are in the queue.
    mutating func expire(at now: ContinuousClock.Instant) -> [Waiter] {
        guard !waiting.isEmpty else {
            line.removeAll(keepingCapacity: true)
            lineStart = 0
            return []
        }
        var expired: [Waiter] = []
        for (waiter, deadline) in line[lineStart...]
        where deadline <= now && waiting.remove(waiter) != nil {
            expired.append(waiter)
        }
        while lineStart < line.count, !waiting.contains(line[lineStart].waiter) {
            lineStart += 1
        }
        compact()
        return expired
    }

    /// Notes that a slot's connection has been opened.
    mutating func connected(_ slot: Slot) -> Next {
        precondition(isConnecting(slot), "Only a slot that connects becomes connected.")
        return place(slot)
    }

    /// Notes that a slot's connection could not be opened.
    ///
    /// - Returns: The number of consecutive failures; `nil` if the slot must not try again.
    mutating func connectFailed(_ slot: Slot) -> Int? {
        guard case .connecting(let failures) = slots[slot] else { return nil }
        guard !isShutDown else {
            slots[slot] = .closed
            return nil
        }
        slots[slot] = .connecting(failures: failures + 1)
        return failures + 1
    }

    /// Takes a connection back.
    mutating func release(_ slot: Slot, isUsable: Bool) -> Next {
        precondition(slots[slot] == .leased, "Only a connection that was lent is given back.")
        guard isUsable || isShutDown else {
            slots[slot] = .connecting(failures: 0)
            return .replace
        }
        return place(slot)
    }

    /// Shuts down: the pool lends no more connections, and closes lent ones when they come back.
    ///
    /// - Returns: The idle slots, to be closed, and all waiting callers, to be refused.
    mutating func shutDown() -> (idle: [Slot], waiters: [Waiter]) {
        guard !isShutDown else { return ([], []) }
        isShutDown = true
        defer {
            idle = []
            line = []
            lineStart = 0
            waiting = []
        }
        for slot in idle {
            slots[slot] = .closed
        }
        return (idle, line[lineStart...].map(\.waiter).filter(waiting.contains))
    }

    private mutating func place(_ slot: Slot) -> Next {
        guard !isShutDown else {
            slots[slot] = .closed
            return .close
        }
        if let waiter = nextWaiter() {
            slots[slot] = .leased
            return .lend(waiter)
        }
        slots[slot] = .idle
        idle.append(slot)
        return .keepIdle
    }

    private mutating func nextWaiter() -> Waiter? {
        defer { compact() }
        while lineStart < line.count {
            let waiter = line[lineStart].waiter
            lineStart += 1
            if waiting.remove(waiter) != nil {
                return waiter
            }
        }
        return nil
    }

    private func isConnecting(_ slot: Slot) -> Bool {
        if case .connecting = slots[slot] { true } else { false }
    }

    /// Drops the served front of the queue once it is the larger part.
    private mutating func compact() {
        guard lineStart > 32, lineStart * 2 > line.count else { return }
        line.removeFirst(lineStart)
        lineStart = 0
    }
}
