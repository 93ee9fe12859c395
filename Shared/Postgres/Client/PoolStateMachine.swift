/// What a pool of a fixed number of connections does next; it performs nothing itself.
///
/// Each slot of the pool holds one connection, or the endeavour to open one: the pool wants all its
/// slots connected, always, and replaces what breaks. Whoever finds none idle waits in line.
struct PoolStateMachine {
    /// The place of one connection in the pool.
    typealias Slot = Int
    /// One who waits for a connection.
    typealias Waiter = UInt64

    /// Where a slot stands.
    enum SlotState: Equatable {
        case connecting(failures: Int)
        case idle
        case leased
        case closed
    }

    /// What becomes of a connection that has just been opened or given back.
    enum Next: Equatable {
        /// It is lent to the one who has waited longest.
        case lend(Waiter)
        /// It waits for the next one to come.
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

    /// A pool whose slots are all to be connected.
    ///
    /// - Parameters:
    ///   - size: The number of slots.
    ///   - waitersMax: How many may wait at the same time.
    init(size: Int, waitersMax: Int) {
        slots = Array(repeating: .connecting(failures: 0), count: max(size, 1))
        self.waitersMax = waitersMax
    }

    /// The number of connections that are open.
    var liveCount: Int { slots.count { $0 == .idle || $0 == .leased } }

    /// The number of connections that nobody uses.
    var idleCount: Int { idle.count }

    /// The number of those in line.
    var waitingCount: Int { waiting.count }

    /// Takes an idle connection: the one used last, whose memory is warmest.
    mutating func takeIdle() -> Slot? {
        guard !isShutDown, let slot = idle.popLast() else { return nil }
        slots[slot] = .leased
        return slot
    }

    /// Gets in line.
    ///
    /// - Returns: Whether there was room.
    mutating func enqueue(_ waiter: Waiter, deadline: ContinuousClock.Instant) -> Bool {
        guard !isShutDown, waiting.count < waitersMax else { return false }
        waiting.insert(waiter)
        line.append((waiter, deadline))
        return true
    }

    /// Leaves the line.
    ///
    /// - Returns: Whether the waiter was still in it.
    mutating func leave(_ waiter: Waiter) -> Bool {
        waiting.remove(waiter) != nil
    }

    /// Takes out of the line those who have waited long enough, wherever they stand.
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

    /// A slot's connection has been opened.
    mutating func connected(_ slot: Slot) -> Next {
        precondition(isConnecting(slot), "Only a slot that connects becomes connected.")
        return place(slot)
    }

    /// A slot's connection could not be opened.
    ///
    /// - Returns: How often in a row that is; `nil` if the slot is not to try again.
    mutating func connectFailed(_ slot: Slot) -> Int? {
        guard case .connecting(let failures) = slots[slot] else { return nil }
        guard !isShutDown else {
            slots[slot] = .closed
            return nil
        }
        slots[slot] = .connecting(failures: failures + 1)
        return failures + 1
    }

    /// A connection is given back.
    mutating func release(_ slot: Slot, isUsable: Bool) -> Next {
        precondition(slots[slot] == .leased, "Only a connection that was lent is given back.")
        guard isUsable || isShutDown else {
            slots[slot] = .connecting(failures: 0)
            return .replace
        }
        return place(slot)
    }

    /// Shuts down: nothing is lent any more, and what is lent is closed when it comes back.
    ///
    /// - Returns: The idle slots, to be closed, and all who wait, to be refused.
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

    /// Drops the served front of the line once it is the larger part.
    private mutating func compact() {
        guard lineStart > 32, lineStart * 2 > line.count else { return }
        line.removeFirst(lineStart)
        lineStart = 0
    }
}
