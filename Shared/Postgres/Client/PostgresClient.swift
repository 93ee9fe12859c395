public import Logging
public import ServiceLifecycle
import Synchronization

/// A pool of connections to one database.
///
/// The client does nothing before ``run()``, which opens the pool and keeps it open: it replaces
/// what breaks and tries for ever, with growing waits, to reach a server that is away. Callers wait
/// for a connection meanwhile, up to ``PostgresSettings/acquireTimeout``, and for all of it no longer
/// than the request they work for has time: ``PostgresWaitBudget``.
public final class PostgresClient: Service, Sendable {
    /// How often a body runs again after a serialization failure or a deadlock.
    private static let retriesMax = 3
    /// With less time than this a request does not begin: it would cost the connection it gets.
    private static let leastWait = Duration.milliseconds(20)

    let settings: PostgresSettings
    let logger: Logger
    private let pool: ConnectionPool
    private let metrics: PostgresMetrics
    private let backoff = Backoff()
    /// What ``PostgresProbe`` and real work have met.
    let health = Mutex(PostgresHealth())
    /// The database's time.
    public let clock: PostgresClock
    /// Whether a ``PostgresSchemaGuard`` has yet to see the schema that the service needs.
    let awaitsSchema = Atomic(false)

    /// Makes a client without connecting.
    ///
    /// - Parameters:
    ///   - settings: The database, and the bounds.
    ///   - machineClock: The machine's own clock.
    ///   - logger: Where it reports.
    public init(
        settings: PostgresSettings,
        machineClock: @escaping @Sendable () -> PostgresTimestamp = PostgresClock.machine,
        logger: Logger
    ) {
        clock = PostgresClock(machine: machineClock)
        var settings = settings
        settings.transactionSilenceMax =
            settings.statementTimeout > .zero
            ? min(settings.statementTimeout, LockHolder.silenceMax) : LockHolder.silenceMax
        self.settings = settings
        self.logger = logger
        metrics = PostgresMetrics(client: settings.applicationName)
        pool = ConnectionPool(settings: settings, metrics: metrics)
    }

    /// Waits until the database has the schema that the service needs, if a ``PostgresSchemaGuard`` looks
    /// for that.
    ///
    /// What writes by itself, without a request or an event, waits for it: a database of a newer
    /// version is left as it is.
    ///
    /// - Throws: `CancellationError` if the task was cancelled.
    public func waitForSchema() async throws {
        while awaitsSchema.load(ordering: .relaxed) {
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Whether at least one connection is open; whether it is answered tells ``PostgresProbe``.
    public var isConnected: Bool { pool.isConnected }

    /// Keeps the pool open until the service shuts down or the task is cancelled.
    ///
    /// Runs once.
    ///
    /// Connections that are lent at that moment are closed when they come back.
    public func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.lookAfterIdle() }
                group.addTask { await self.keepTime() }
                for await slot in pool.vacancies {
                    group.addTask { await self.connect(slot) }
                }
                for connection in pool.shutDown() {
                    await connection.close()
                }
                group.cancelAll()
            }
        } onCancelOrGracefulShutdown: { [pool] in
            pool.endVacancies()
        }
    }

    /// Runs a body between `BEGIN` and `COMMIT`, on the thread of a connection.
    ///
    /// What the body throws rolls the database transaction back. After a serialization failure or a
    /// deadlock the body runs again, up to three times, so it must have no effect outside the
    /// database.
    ///
    /// - Returns: What the body returns, once the database transaction is committed.
    /// - Throws: What the body throws; `CancellationError` if the task was cancelled; or a
    ///   ``PostgresError``, of which ``PostgresError/Code/commitOutcomeUnknown`` alone leaves open
    ///   whether the database transaction was committed.
    @discardableResult
    public func withTransaction<R: Sendable>(
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> R
    ) async throws -> R {
        var retries = 0
        while true {
            do {
                let result = try await lease { connection in
                    try connection.transaction(body)
                }
                metrics.transactionCommitted()
                return result
            } catch let failure as PostgresConnection.NotBegun {
                throw report(failure.error)
            } catch let error as PostgresError {
                metrics.transactionRolledBack()
                guard error.isWorthRunningAgain, retries < Self.retriesMax else {
                    throw report(error)
                }
                retries += 1
                metrics.transactionRetried()
                let delay = Backoff(first: .milliseconds(5), longest: .milliseconds(100))
                    .delay(afterFailures: retries, jitter: .random(in: 0...1))
                try await Task.sleep(for: delay)
            } catch {
                metrics.transactionRolledBack()
                throw error
            }
        }
    }

    /// Runs a body on the thread of a connection without a database transaction: each statement
    /// commits by itself.
    ///
    /// A database transaction that the body opens and leaves open is rolled back. What the body
    /// changes in the session with `SET` stays changed for the next one to use it.
    @discardableResult
    public func withConnection<R: Sendable>(
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> R
    ) async throws -> R {
        do {
            return try await lease(body)
        } catch let failure as PostgresConnection.NotBegun {
            throw report(failure.error)
        } catch let error as PostgresError {
            throw report(error)
        }
    }

    // MARK: - Lending

    /// Runs a body on a connection of the pool.
    ///
    /// - Throws: `PostgresConnection.NotBegun` if the body has not run; what the body throws.
    private func lease<R: Sendable>(
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> R
    ) async throws -> R {
        var broken = 0
        while true {
            do {
                return try await leaseOnce(body)
            } catch let failure as PostgresConnection.NotBegun {
                // A connection that broke while it was idle is no reason to bother the caller.
                broken += 1
                guard failure.error.code == .connectionLost, broken <= settings.poolSize else {
                    throw failure
                }
            }
        }
    }

    private func leaseOnce<R: Sendable>(
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> R
    ) async throws -> R {
        let start = ContinuousClock.now
        let budget = PostgresWaitBudget.current
        if let budget, budget.left < Self.leastWait {
            throw PostgresConnection.NotBegun(
                error: PostgresError(.statementTimeout, "the request has waited long enough")
            )
        }
        let deadline = budget.map { PostgresDeadline(in: $0.left, from: start) }
        defer { budget?.spend(start.duration(to: .now)) }
        let lease: ConnectionPool.Lease
        do {
            lease = try await pool.acquire(before: deadline?.end)
        } catch let error as PostgresError {
            // Under this name the caller waits no second time.
            throw PostgresConnection.NotBegun(error: error)
        }
        metrics.waited(start.duration(to: .now))
        let connection = lease.connection
        let turn = connection.interrupter.beginTurn()
        return try await withTaskCancellationHandler {
            try await Self.use(connection, lease, pool, until: deadline, body)
        } onCancel: {
            connection.interrupter.raise(turn)
        }
    }

    /// Runs a body and gives the connection back, all on the connection's thread, so that the next
    /// caller need not wait for this one to be woken.
    private static func use<R: Sendable>(
        _ connection: isolated PostgresConnection,
        _ lease: ConnectionPool.Lease,
        _ pool: ConnectionPool,
        until deadline: PostgresDeadline?,
        _ body: (isolated PostgresConnection) throws -> R
    ) async throws -> R {
        connection.beginTurn(until: deadline)
        defer {
            connection.endTurn()
            let isUsable = connection.isUsable
            if !isUsable {
                connection.close()
            }
            pool.release(lease, isUsable: isUsable)
        }
        guard connection.checkIdle() else {
            throw PostgresConnection.NotBegun(
                error: PostgresError(.connectionLost, "the connection was lost while idle")
            )
        }
        return try body(connection)
    }

    /// Counts an error, and tells one that the caller's own cancellation has caused as such.
    private func report(_ error: PostgresError) -> any Error {
        if error.code == .cancelled && Task.isCancelled {
            return CancellationError()
        }
        metrics.failed(error)
        health.withLock { $0.workFailed(error, at: .now) }
        return error
    }

    // MARK: - Keeping the pool

    private func connect(_ slot: PoolStateMachine.Slot) async {
        while !Task.isCancelled {
            let connection = PostgresConnection(settings)
            let turn = connection.interrupter.beginTurn()
            do {
                try await withTaskCancellationHandler {
                    try await connection.open()
                    try await connection.read(clock)
                } onCancel: {
                    connection.interrupter.raise(turn)
                }
                logger.debug("Connected to PostgreSQL", metadata: ["slot": "\(slot)"])
                pool.connected(slot, connection)
                pool.recordCounts()
                return
            } catch {
                await connection.close()
                let failure = error as? PostgresError ?? PostgresError(.connectFailed, "\(error)")
                let (failures, isFirst) = pool.connectFailed(slot, failure)
                guard let failures, !Task.isCancelled else { return }
                // Once in an outage for somebody to look, the rest for whoever does.
                logger.log(
                    level: isFirst ? .warning : .debug,
                    "Cannot connect to PostgreSQL; trying on",
                    metadata: ["error": "\(failure)", "failures": "\(failures)"]
                )
                let delay = backoff.delay(afterFailures: failures, jitter: .random(in: 0...1))
                try? await Task.sleep(for: delay)  // Cancelled: the loop's condition ends it.
            }
        }
    }

    /// Notices within a second that idle connections have broken, so that ``isConnected`` tells the
    /// truth and a replacement is there before it is needed.
    private func lookAfterIdle() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))  // Cancelled: the loop's condition ends it.
            for lease in pool.takeAllIdle() {
                await Self.check(lease.connection, lease, pool)
            }
            pool.recordCounts()
        }
    }

    /// Reads the database's clock from time to time, and says when the machine's is wrong and when it
    /// no longer is.
    private func keepTime() async {
        var wasWrong = false
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))  // Cancelled: the loop's condition ends it.
            if clock.isDue {
                // A server that is away is asked again; the time goes on without it.
                _ = try? await withConnection { [clock] in try $0.read(clock) }
            }
            guard clock.difference != nil else { continue }
            let problem = clock.problem
            if let problem, !wasWrong {
                logger.error("A clock is wrong", metadata: ["problem": "\(problem)"])
            } else if problem == nil, wasWrong {
                logger.notice("The clock is right again")
            }
            wasWrong = problem != nil
        }
    }

    private static func check(
        _ connection: isolated PostgresConnection,
        _ lease: ConnectionPool.Lease,
        _ pool: ConnectionPool
    ) {
        let isUsable = connection.checkIdle()
        if !isUsable {
            connection.close()
        }
        pool.release(lease, isUsable: isUsable)
    }
}

extension PostgresError {
    /// Whether a body is run again within ``PostgresClient/withTransaction(_:)``.
    fileprivate var isWorthRunningAgain: Bool {
        code == .serializationFailure || code == .deadlock || code == .stalePlan
    }
}
