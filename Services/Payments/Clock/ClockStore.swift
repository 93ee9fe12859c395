import EventTypes
import Messaging
import Postgres

/// The tables of the store's clock and of its advances.
enum ClockStore {
    /// Reads the clock.
    static func load(on connection: isolated PostgresConnection) throws -> ClockState {
        try read("", on: connection)
    }

    /// Reads the clock, and locks it until the end of the database transaction.
    static func lock(on connection: isolated PostgresConnection) throws -> ClockState {
        try read("FOR UPDATE OF c", on: connection)
    }

    /// Lets nobody change the clock until the database transaction ends; several may hold it at once.
    ///
    /// - Parameters:
    ///   - time: The store's time as this database transaction has read it.
    ///   - connection: A connection in a database transaction.
    ///   - follow: Takes the clock if it has been moved past that time.
    /// - Throws: `PostgresError` with the code `serializationFailure` if the clock has been moved past
    ///   that time; what was decided by it is decided again.
    static func holdClock(
        at time: StoreTime,
        on connection: isolated PostgresConnection,
        follow: (FollowedClock) -> Void
    ) throws {
        let followed = try read("FOR SHARE OF c", on: connection).followed
        let start: StoreTime
        switch followed.clock {
        case .machines: return
        case .frozen(let stop): start = stop
        case .running(let begin, _, _, _): start = begin
        }
        guard start <= time else {
            follow(followed)
            throw PostgresError(.serializationFailure, "The store's clock was moved meanwhile.")
        }
    }

    /// Writes the clock, which is locked.
    ///
    /// The advance that it is on has been inserted before.
    static func save(_ state: ClockState, on connection: isolated PostgresConnection) throws {
        var (status, key, failure) = ("ready", IdempotencyKey?.none, String?.none)
        switch state.status {
        case .ready: break
        case .advancing(let advance): (status, key) = ("advancing", advance.key)
        case .failed(let advance, let reason):
            (status, key, failure) = ("failed", advance.key, reason)
        }
        let clock = try PostgresJSON(encoding: state.followed.clock)
        try connection.execute(
            """
            UPDATE store_clock SET step = \(state.followed.step), clock = \(clock),
                latest = \(state.followed.latest as StoreTime?), status = \(status),
                advance_key = \(key as IdempotencyKey?), failure = \(failure as String?)
            """
        )
    }

    /// Notes a time at which an administrator has said that the machines' clock is right.
    static func confirm(_ time: StoreTime, on connection: isolated PostgresConnection) throws {
        try connection.execute("UPDATE store_clock SET latest = \(time)")
    }

    /// The newest time at which an administrator has said so; `nil` if nobody has.
    ///
    /// Only for a clock that was never set, whose row has no other latest time.
    static func confirmed(on connection: isolated PostgresConnection) throws -> StoreTime? {
        let rows = try connection.query("SELECT latest FROM store_clock WHERE step = 0")
        return try rows.first?.decode(StoreTime?.self)
    }

    /// The epoch of the broker's log that the newest change was written for.
    static func epoch(on connection: isolated PostgresConnection) throws -> Int32 {
        guard let row = try connection.query("SELECT epoch FROM store_clock").first else {
            throw PaymentError(.unknownRow)
        }
        return try row.decode(Int32.self)
    }

    /// Notes the epoch of the broker's log that the newest change is written for.
    static func save(epoch: Int32, on connection: isolated PostgresConnection) throws {
        try connection.execute("UPDATE store_clock SET epoch = \(epoch)")
    }

    /// The advance that was begun under a key.
    static func advance(
        begunWith key: IdempotencyKey,
        on connection: isolated PostgresConnection
    ) throws -> ClockAdvance? {
        let rows = try connection.query(
            """
            SELECT key, by_ms, to_time, start_time, target, rate_after FROM clock_advances
            WHERE key = \(key)
            """
        )
        guard let row = rows.first else { return nil }
        let (key, milliseconds, time, start, target, rate) = try row.decode(
            IdempotencyKey.self,
            Int64?.self,
            StoreTime?.self,
            StoreTime.self,
            StoreTime.self,
            String?.self
        )
        return try advance(key, milliseconds, time, start, target, rate)
    }

    /// Writes a new advance.
    static func insert(
        _ advance: ClockAdvance,
        on connection: isolated PostgresConnection
    ) throws {
        var (milliseconds, time) = (Int64?.none, StoreTime?.none)
        switch advance.amount {
        case .by(let duration): milliseconds = duration.milliseconds
        case .to(let target): time = target
        }
        try connection.execute(
            """
            INSERT INTO clock_advances (key, by_ms, to_time, start_time, target, rate_after)
            VALUES (\(advance.key), \(milliseconds as Int64?), \(time as StoreTime?),
                \(advance.start), \(advance.target), \(advance.rateAfter?.description as String?))
            """
        )
    }

    /// Adds work to the advance that is on its way, if there is one.
    ///
    /// One action may make another one due at the same time, so only the part that carries them out
    /// can count them.
    static func addToAdvance(
        _ counts: [String: Int64],
        on connection: isolated PostgresConnection
    ) throws {
        let rows = try connection.query(
            "SELECT advance_key FROM store_clock WHERE status = 'advancing'"
        )
        if let key = try rows.first?.decode(IdempotencyKey.self) {
            try add(counts, to: key, on: connection)
        }
    }

    /// Adds to the counts of work that fell due in an advance.
    static func add(
        _ counts: [String: Int64],
        to key: IdempotencyKey,
        on connection: isolated PostgresConnection
    ) throws {
        let rows = try connection.query(
            "SELECT done FROM clock_advances WHERE key = \(key) FOR UPDATE"
        )
        guard let row = rows.first else { throw PaymentError(.unknownRow) }
        let done = try counts.merging(done(in: row.decode(PostgresJSON.self)), uniquingKeysWith: +)
        let json = try PostgresJSON(encoding: done)
        try connection.execute("UPDATE clock_advances SET done = \(json) WHERE key = \(key)")
    }

    /// The newest advance; `nil` if there was none.
    static func newestAdvance(
        on connection: isolated PostgresConnection
    ) throws -> AdvanceRecord? {
        let rows = try connection.query(
            "SELECT start_time, target, done FROM clock_advances ORDER BY target DESC LIMIT 1"
        )
        guard let row = rows.first else { return nil }
        let (start, target, json) = try row.decode(
            StoreTime.self,
            StoreTime.self,
            PostgresJSON.self
        )
        return AdvanceRecord(start: start, target: target, done: try done(in: json))
    }

    private static func done(in json: PostgresJSON) throws -> [String: Int64] {
        try json.decode([String: Int64].self)
    }

    private static func read(
        _ lock: String,
        on connection: isolated PostgresConnection
    ) throws -> ClockState {
        let rows = try connection.query(
            """
            SELECT c.step, c.clock, c.latest, c.status, c.failure, a.key, a.by_ms, a.to_time,
                a.start_time, a.target, a.rate_after
            FROM store_clock c LEFT JOIN clock_advances a ON a.key = c.advance_key
            \(unsafe: lock)
            """
        )
        guard let row = rows.first else { throw PaymentError(.unknownRow) }
        let (
            step, json, latest, status, failure, key, milliseconds, time, start, target, rate
        ) = try row.decode(
            Int64.self,
            PostgresJSON.self,
            StoreTime?.self,
            String.self,
            String?.self,
            IdempotencyKey?.self,
            Int64?.self,
            StoreTime?.self,
            StoreTime?.self,
            StoreTime?.self,
            String?.self
        )
        var state = ClockState(
            followed: FollowedClock(
                try json.decode(StoreClock.self),
                step: step,
                latest: latest
            )
        )
        guard let key, let start, let target else { return state }
        let advance = try advance(key, milliseconds, time, start, target, rate)
        state.status =
            status == "failed"
            ? .failed(advance, reason: failure ?? "") : .advancing(advance)
        return state
    }

    private static func advance(
        _ key: IdempotencyKey,
        _ milliseconds: Int64?,
        _ time: StoreTime?,
        _ start: StoreTime,
        _ target: StoreTime,
        _ rate: String?
    ) throws -> ClockAdvance {
        let amount: ClockAdvance.Amount
        if let time {
            amount = .to(time)
        } else if let milliseconds {
            amount = .by(.milliseconds(milliseconds))
        } else {
            throw PaymentError(.unknownRow)
        }
        return ClockAdvance(
            key: key,
            amount: amount,
            start: start,
            target: target,
            rateAfter: rate.flatMap { ClockRate($0) }
        )
    }
}
