public import Logging
public import ServiceLifecycle
import Synchronization

/// A pool of connections to one database.
///
/// The client does nothing before ``run()``, which opens the pool and keeps it open. It replaces
/// broken connections and retries for ever, with growing pauses, if the server is unreachable.
/// Callers meanwhile wait for a connection, up to ``PostgresSettings/acquireTimeout``. All the
/// waits of a request together are limited by its ``PostgresWaitBudget``.
public final class PostgresClient: Service, Sendable {
    /// The number of times a body runs again after a serialization failure or a deadlock.
    private static let retriesMax = 3
    /// The least time that a request needs to begin.
    ///
    /// With less, it would only cost the connection it gets.
    private static let leastWait = Duration.milliseconds(20)
    /// The time between two looks at whether idle connections have broken.
    private static let idleLookInterval = Duration.seconds(2)

    let settings: PostgresSettings
    let logger: Logger
    private let pool: ConnectionPool
    private let metrics: PostgresMetrics
    private let backoff = Backoff()
    /// The state of the database, from ``PostgresProbe`` and from real work.
    let health = Mutex(PostgresHealth())
    /// The database's time.
    public let clock: PostgresClock
    /// Whether a ``PostgresSchemaGuard`` still waits for the schema that the service needs.
    let awaitsSchema = Atomic(false)

    /// Makes a client without connecting.
    ///
    /// - Parameters:
    ///   - settings: The database, and the limits.
    ///   - machineClock: The machine's own clock.
    ///   - logger: Receives the client's log messages.
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

    /// Waits until the database has the schema that the service needs, if a ``PostgresSchemaGuard``
    /// checks it.
    ///
    /// Background tasks that write without a request or an event wait here, so that a database of a
    /// newer version stays unchanged.
    ///
    /// - Throws: `CancellationError` if the task was cancelled.
    public func waitForSchema() async throws {
        while awaitsSchema.load(ordering: .relaxed) {
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Whether at least one connection is open.
    ///
    /// ``PostgresProbe`` shows whether the server answers.
    public var isConnected: Bool { pool.isConnected }

    /// Keeps the pool open until the service shuts down or the task is cancelled.
    ///
    /// It can run only once. Connections that are lent at the end are closed when they come back.
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
    /// An error of the body rolls the database transaction back. After a serialization failure or a
    /// deadlock the body runs again, up to three times, so it must have no effect outside the
    /// database.
    ///
    /// - Returns: The result of the body, once the database transaction is committed.
    /// - Throws: Any error of the body; `CancellationError` if the task was cancelled; or a
    ///   ``PostgresError``. Only after ``PostgresError/Code/commitOutcomeUnknown`` is it unknown
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
    /// A database transaction that the body leaves open is rolled back. A `SET` in the body stays
    /// in force for the next use of the session.
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
    /// - Throws: `PostgresConnection.NotBegun` if nothing has happened in the database; any error of
    ///   the body.
    private func lease<R: Sendable>(
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> R
    ) async throws -> R {
        var broken = 0
        while true {
            do {
                return try await leaseOnce(body)
            } catch let failure as PostgresConnection.NotBegun {
                // The caller need not know that a connection broke while it was idle.
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
            // This error type keeps the caller from waiting a second time.
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

    /// Runs a body and gives the connection back, both on the connection's thread, so that the next
    /// caller need not wait until this one is woken.
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

    /// Counts an error, and turns one that the caller's own cancellation caused into
    /// `CancellationError`.
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
                // Each outage logs one warning; the other failures are logged for debugging.
                logger.log(
                    level: isFirst ? .warning : .debug,
                    "Cannot connect to PostgreSQL; trying again",
                    metadata: ["error": "\(failure)", "failures": "\(failures)"]
                )
                let delay = backoff.delay(afterFailures: failures, jitter: .random(in: 0...1))
                try? await Task.sleep(for: delay)  // If cancelled, the loop ends.
            }
        }
    }

    /// Notices within two seconds that idle connections have broken.
    ///
    /// ``isConnected`` is then accurate, and a replacement is open before it is needed. Whoever borrows a
    /// connection before that looks after it, too.
    private func lookAfterIdle() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.idleLookInterval)  // If cancelled, the loop ends.
            for lease in pool.takeAllIdle() {
                // Of a quiet session the thread of its connection need not be woken.
                if lease.connection.isQuiet {
                    pool.release(lease, isUsable: true)
                } else {
                    await Self.check(lease.connection, lease, pool)
                }
            }
            pool.recordCounts()
        }
    }

    /// Reads the database's clock regularly, and logs when the machine's clock becomes wrong or
    /// right again.
    private func keepTime() async {
        var wasWrong = false
        while !Task.isCancelled {
            // If cancelled, the loop ends.
            try? await Task.sleep(for: PostgresClock.readingInterval / 2)
            if clock.isDue {
                // If the server is unreachable, it is asked again later; the clock goes on without
                // it.
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
    /// Whether ``PostgresClient/withTransaction(_:)`` runs the body again after this error.
    fileprivate var isWorthRunningAgain: Bool {
        code == .serializationFailure || code == .deadlock || code == .stalePlan
    }
}
