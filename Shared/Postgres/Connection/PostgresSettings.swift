/// The address of a database, and the limits for using it.
public struct PostgresSettings: Sendable {
    /// The connection URL: `postgres://user:password@host:port/database?sslmode=verify-full`.
    ///
    /// It may name several hosts, separated by commas.
    public var url: String
    /// The name that the server shows for the sessions.
    public var applicationName: String
    /// The number of sessions in the pool.
    public var poolSize: Int
    /// The longest time for one statement; zero for no limit.
    public var statementTimeout: Duration
    /// The longest time for opening a session.
    public var connectTimeout: Duration
    /// The longest wait for a session of the pool.
    public var acquireTimeout: Duration
    /// Whether statements use an index wherever one fits, and are planned once per session.
    ///
    /// A plan made while the tables are small would scan them sequentially, and still do so when
    /// they have grown. A new plan for each execution costs as much as a small batch. Use this for
    /// sessions in which every statement looks up rows by key.
    public var prefersIndexes: Bool
    /// The longest silence of the client inside a database transaction; the statement timeout if
    /// `nil`.
    ///
    /// A process that is stopped inside a database transaction holds back every relay of the
    /// cluster.
    var transactionSilenceMax: Duration?

    /// Makes settings.
    ///
    /// They are not checked here; see ``validate()``.
    public init(
        url: String,
        applicationName: String,
        poolSize: Int = 4,
        statementTimeout: Duration = .seconds(30),
        connectTimeout: Duration = .seconds(5),
        acquireTimeout: Duration = .seconds(10),
        prefersIndexes: Bool = false
    ) {
        self.url = url
        self.applicationName = applicationName
        self.poolSize = poolSize
        self.statementTimeout = statementTimeout
        self.connectTimeout = connectTimeout
        self.acquireTimeout = acquireTimeout
        self.prefersIndexes = prefersIndexes
    }

    /// Checks the settings without connecting.
    ///
    /// - Throws: ``PostgresError`` with the code ``PostgresError/Code/configuration``. Its text
    ///   does not quote the URL, which may contain a password.
    public func validate() throws(PostgresError) {
        guard poolSize > 0 else {
            throw PostgresError(.configuration, "the pool must have at least one connection")
        }
        try PQConnection.validate(url: url)
    }

    /// libpq's parameters.
    ///
    /// The URL overrides the defaults before it.
    var parameters: [(keyword: String, value: String)] {
        [
            // A server that vanishes without closing the connection is noticed within half a
            // minute.
            ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "20000"),
            ("dbname", url),
            ("application_name", applicationName), ("client_encoding", "UTF8"),
        ]
    }

    /// The first statements of a session.
    ///
    /// The keepalives are the server's own. Otherwise a client whose machine vanished would hold
    /// its locks for as long as the server's system waits, by default two hours.
    var preamble: String {
        let milliseconds = statementTimeout.inMilliseconds
        let silence = (transactionSilenceMax ?? statementTimeout).inMilliseconds
        let planner =
            prefersIndexes
            ? """
            ,
                set_config('enable_seqscan', 'off', false),
                set_config('enable_hashjoin', 'off', false),
                set_config('enable_mergejoin', 'off', false),
                set_config('jit', 'off', false),
                set_config('plan_cache_mode', 'force_generic_plan', false)
            """ : ""
        return """
            SELECT set_config('statement_timeout', '\(milliseconds)', false),
                set_config('idle_in_transaction_session_timeout', '\(silence)', false),
                set_config('tcp_keepalives_idle', '10', false),
                set_config('tcp_keepalives_interval', '5', false),
                set_config('tcp_keepalives_count', '3', false),
                set_config('TimeZone', 'UTC', false)\(planner)
            """
    }

    /// The limits of a statement in a body.
    ///
    /// The server's own timeout comes first; ours is for a server that does not answer.
    var limits: PQLimits {
        PQLimits(
            timeout: statementTimeout > .zero ? statementTimeout + .seconds(5) : nil,
            isInterruptible: true
        )
    }
}

extension Duration {
    /// The duration in whole milliseconds, at least one unless it is zero.
    var inMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        return self > .zero ? max(milliseconds, 1) : 0
    }
}
