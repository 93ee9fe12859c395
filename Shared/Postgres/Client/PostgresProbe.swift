public import ServiceLifecycle
import Synchronization

/// Asks the database every few seconds what a request would meet, for readiness.
///
/// It has a session of its own and a deadline, so it notices a server that is frozen or cut off
/// though its connections stay open. It asks whether the server only reads, and has it write a small
/// temporary file, which a full disk refuses. That costs a millisecond and leaves nothing behind.
/// After real work was refused for want of room, or a commit was not answered, it also commits
/// something: a message in the server's log that nobody reads.
public final class PostgresProbe: Service, Sendable {
    private let client: PostgresClient
    private let settings: PostgresSettings
    private let interval: Duration
    private let timeout: Duration

    /// Makes a probe of a client's database.
    ///
    /// - Parameters:
    ///   - client: Its settings say where the database is; what its work meets counts, too.
    ///   - interval: The time between two questions while all is well; otherwise a second.
    ///   - timeout: How long the server has for an answer.
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

    /// What a request would meet, in a few words; `nil` if nothing is wrong.
    ///
    /// Without waiting. Holds no address, no name and no value.
    public var problem: String? {
        if let problem = client.health.withLock({ $0.problem }) { return problem }
        return client.isConnected ? nil : "PostgreSQL cannot be reached"
    }

    /// Asks until the service shuts down or the task is cancelled.
    public func run() async throws {
        // Cancelled: it ends all the same.
        try? await cancelWhenGracefulShutdown { try await self.askForEver() }
    }

    private func askForEver() async throws {
        while true {
            let start = ContinuousClock.now
            do {
                try await withSession(settings) { connection in
                    try await connection.boundMemory()
                    while true {
                        try await ask(connection)
                        try await pause()
                    }
                }
            } catch let error as PostgresError {
                failed(error, since: start)
            }
            try await pause()
        }
    }

    private func ask(_ connection: PostgresConnection) async throws {
        let start = ContinuousClock.now
        let writes = client.health.withLock { $0.wantsWrite }
        do {
            let isReadOnly = try await connection.probe(writes: writes, within: timeout)
            client.health.withLock {
                $0.answered(since: start, isReadOnly: isReadOnly, hasWritten: writes && !isReadOnly)
            }
        } catch let error as PostgresError {
            failed(error, since: start)
            // A session that goes on is kept, though the server has said no.
            guard await !connection.isLost else { throw error }
        }
    }

    private func failed(_ error: PostgresError, since start: ContinuousClock.Instant) {
        // It was the probe itself that was ended.
        guard !Task.isCancelled else { return }
        // Within the last tenth it was our own patience that ended.
        let isSilence = start.duration(to: .now) >= timeout * 0.85
        let isConnected = client.isConnected
        client.health.withLock {
            $0.probeFailed(error, isSilence: isSilence, isConnected: isConnected)
        }
    }

    private func pause() async throws {
        let isWell = client.health.withLock { $0.problem == nil && !$0.wantsWrite }
        try await Task.sleep(for: isWell ? interval : min(interval, .seconds(1)))
    }
}

extension PostgresConnection {
    /// Lets the session keep so little in memory that the probe's question needs a file.
    fileprivate func boundMemory() throws(PostgresError) {
        try simple("SET work_mem = '64kB'")
    }

    /// Asks the probe's question.
    ///
    /// - Returns: Whether the server only reads.
    fileprivate func probe(writes: Bool, within timeout: Duration) throws -> Bool {
        beginTurn(until: PostgresDeadline(in: timeout, from: .now))
        defer { endTurn() }
        // So many rows outgrow the memory of the session: they go into a temporary file.
        let row = try query(
            """
            SELECT current_setting('transaction_read_only') = 'on',
                (SELECT count(*) FROM generate_series(1, 5000))
            """
        )[0]
        let (isReadOnly, _) = try row.decode(Bool.self, Int64.self)
        if writes && !isReadOnly {
            try execute("SELECT pg_logical_emit_message(true, 'counterfoil.probe', '')")
        }
        return isReadOnly
    }
}
