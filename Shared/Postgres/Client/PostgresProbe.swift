public import ServiceLifecycle
import Synchronization

/// Checks every few seconds, for readiness, whether the database could serve a request.
///
/// The probe has its own session and a deadline, so it notices a server that is frozen or cut off
/// although its connections stay open. It asks whether the server is read-only, and makes it write
/// a small temporary file, which fails on a full disk. That costs a millisecond and leaves nothing
/// behind. If real work failed because the server was full, or a commit was not answered, the probe
/// also commits something: a message in the server's log that nobody reads.
public final class PostgresProbe: Service, Sendable {
    private let client: PostgresClient
    private let settings: PostgresSettings
    private let interval: Duration
    private let timeout: Duration

    /// Makes a probe of a client's database.
    ///
    /// - Parameters:
    ///   - client: The client whose database is probed. Failures of its real work count too.
    ///   - interval: The time between two probes while all is well; otherwise a second.
    ///   - timeout: The time the server has for an answer.
    public init(
        of client: PostgresClient,
        every interval: Duration = .seconds(3),
        timeout: Duration = .seconds(4)
    ) {
        self.client = client
        self.interval = interval
        self.timeout = timeout
        var settings = client.settings
        settings.applicationName += "-probe"
        settings.connectTimeout = min(settings.connectTimeout, timeout)
        settings.prefersIndexes = false
        self.settings = settings
    }

    /// The problem that a request would meet, in a few words; `nil` if there is none.
    ///
    /// It returns without waiting, and contains no address, name or value.
    public var problem: String? {
        if let problem = client.health.withLock({ $0.problem }) { return problem }
        return client.isConnected ? nil : "PostgreSQL cannot be reached"
    }

    /// Probes until the service shuts down or the task is cancelled.
    public func run() async throws {
        // A cancellation also ends the probe.
        try? await cancelWhenGracefulShutdown { try await self.askForEver() }
    }

    private func askForEver() async throws {
        while true {
            let start = ContinuousClock.now
            do {
                try await withSession(settings) { connection in
                    try await keepAsking(on: connection)
                }
            } catch let error as PostgresError {
                failed(error, since: start)
            }
            try await Task.sleep(for: pause)
        }
    }

    /// Asks until the session is lost or the task is cancelled.
    ///
    /// The session's own thread rests in between, so no other thread has to wake it.
    private func keepAsking(on connection: isolated PostgresConnection) throws {
        try connection.boundMemory()
        while true {
            try ask(on: connection)
            try connection.rest(for: pause)
        }
    }

    private func ask(on connection: isolated PostgresConnection) throws {
        let start = ContinuousClock.now
        let writes = client.health.withLock { $0.wantsWrite }
        do {
            let isReadOnly = try connection.probe(writes: writes, within: timeout)
            client.health.withLock {
                $0.answered(since: start, isReadOnly: isReadOnly, hasWritten: writes && !isReadOnly)
            }
        } catch let error as PostgresError {
            failed(error, since: start)
            // A session that still works is kept, even if the server reported an error.
            guard !connection.isLost else { throw error }
        }
    }

    private func failed(_ error: PostgresError, since start: ContinuousClock.Instant) {
        // If the probe itself was cancelled, the error says nothing about the server.
        guard !Task.isCancelled else { return }
        // An error near the end of the timeout means that the server did not answer in time.
        let isSilence = start.duration(to: .now) >= timeout * 0.85
        let isConnected = client.isConnected
        client.health.withLock {
            $0.probeFailed(error, isSilence: isSilence, isConnected: isConnected)
        }
    }

    /// The time until the next probe.
    private var pause: Duration {
        let isWell = client.health.withLock { $0.problem == nil && !$0.wantsWrite }
        return isWell ? interval : min(interval, .seconds(1))
    }
}

extension PostgresConnection {
    /// Limits the memory of the session, so that the probe's query needs a temporary file.
    fileprivate func boundMemory() throws(PostgresError) {
        try simple("SET work_mem = '64kB'")
    }

    /// Waits on the session's thread, at most until the server ends the session or the task is cancelled.
    fileprivate func rest(for duration: Duration) throws(PostgresError) {
        let session = try requireSession()
        do throws(PostgresError) {
            // The session listens on no channel.
            _ = try session.waitForNotifications(timeout: duration)
        } catch {
            // If the session is lost, the next statement says so.
            guard session.isLost else { throw error }
        }
    }

    /// Runs the probe's query.
    ///
    /// - Returns: Whether the server is read-only.
    fileprivate func probe(writes: Bool, within timeout: Duration) throws -> Bool {
        beginTurn(until: PostgresDeadline(in: timeout, from: .now))
        defer { endTurn() }
        // The rows need more than the memory of the session, so they go into a temporary file. A few
        // long ones cost PostgreSQL much less time than thousands of numbers.
        let row = try query(
            """
            WITH rows AS MATERIALIZED (
                SELECT repeat(' ', 1000) FROM generate_series(1, 80)
            )
            SELECT current_setting('transaction_read_only') = 'on', (SELECT count(*) FROM rows)
            """
        )[0]
        let (isReadOnly, _) = try row.decode(Bool.self, Int64.self)
        if writes && !isReadOnly {
            try execute("SELECT pg_logical_emit_message(true, 'counterfoil.probe', '')")
        }
        return isReadOnly
    }
}
