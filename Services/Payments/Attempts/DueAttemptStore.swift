import EventTypes
import Postgres

/// The SQL that takes attempts for which it is time to call or to ask the processor.
enum DueAttemptStore {
    /// Takes attempts that are due, and those whose approval has expired, up to a limit of each.
    ///
    /// Attempts that another process is just taking are skipped. An attempt whose approval has
    /// expired is due from then on, so the lease protects it too. The rows say from then on that the
    /// processor may have been called. The attempts say whether it may have been before. The time
    /// of the first call stays unknown if an older version of the service may have made it.
    ///
    /// - Parameters:
    ///   - time: The machines' time.
    ///   - storeTime: The store's time, by which approvals expire.
    ///   - leaseEnd: The time until which the attempts belong to the process.
    ///   - owner: The process.
    ///   - limit: The most attempts that are due, and the most whose approval has expired.
    ///   - left: Transactions that are left alone.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The attempts.
    /// - Throws: `PostgresError`, or an error of a row that cannot be read.
    static func take(
        at time: MachineTime,
        approvalsEndedAt storeTime: StoreTime,
        until leaseEnd: MachineTime,
        owner: LeaseOwner,
        limit: Int,
        besides left: Set<TransactionID> = [],
        on connection: isolated PostgresConnection
    ) throws -> [ProcessorAttempt] {
        let left = left.map(\.number)
        return try connection.query(
            """
            WITH ended AS MATERIALIZED (
                SELECT transaction_id, kind, number, is_uncalled FROM processor_attempts
                WHERE due_at <= \(time) AND transaction_id <> ALL (\(left))
                ORDER BY due_at LIMIT \(Int64(limit))
                FOR UPDATE SKIP LOCKED
            ), expired AS MATERIALIZED (
                SELECT transaction_id, kind, number, is_uncalled FROM processor_attempts
                WHERE approval_ends_at <= \(storeTime) AND due_at IS NULL
                    AND transaction_id <> ALL (\(left))
                ORDER BY approval_ends_at LIMIT \(Int64(limit))
                FOR UPDATE SKIP LOCKED
            ), due AS (
                SELECT * FROM ended UNION ALL SELECT * FROM expired
            )
            UPDATE processor_attempts AS a SET due_at = \(leaseEnd), lease_owner = \(owner.id),
                first_called_at = CASE WHEN due.is_uncalled
                    THEN coalesce(a.first_called_at, \(time)) ELSE a.first_called_at END,
                is_uncalled = false
            FROM due WHERE a.transaction_id = due.transaction_id AND a.kind = due.kind
                AND a.number = due.number
            RETURNING \(unsafe: columns)
            """
        ).map { try AttemptStore.attempt(in: $0) }
    }

    /// Takes the attempts of one transaction that are due, or whose approval has expired.
    ///
    /// - Parameters:
    ///   - id: The transaction.
    ///   - time: The machines' time.
    ///   - storeTime: The store's time, by which approvals expire.
    ///   - leaseEnd: The time until which the attempts belong to the process.
    ///   - owner: The process.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The attempts.
    /// - Throws: `PostgresError`, or an error of a row that cannot be read.
    static func take(
        of id: TransactionID,
        at time: MachineTime,
        approvalsEndedAt storeTime: StoreTime,
        until leaseEnd: MachineTime,
        owner: LeaseOwner,
        on connection: isolated PostgresConnection
    ) throws -> [ProcessorAttempt] {
        try connection.query(
            """
            WITH due AS MATERIALIZED (
                SELECT transaction_id, kind, number, is_uncalled FROM processor_attempts
                WHERE transaction_id = \(id.number)
                    AND (due_at <= \(time) OR approval_ends_at <= \(storeTime) AND due_at IS NULL)
                FOR UPDATE SKIP LOCKED
            )
            UPDATE processor_attempts AS a SET due_at = \(leaseEnd), lease_owner = \(owner.id),
                first_called_at = CASE WHEN due.is_uncalled
                    THEN coalesce(a.first_called_at, \(time)) ELSE a.first_called_at END,
                is_uncalled = false
            FROM due WHERE a.transaction_id = due.transaction_id AND a.kind = due.kind
                AND a.number = due.number
            RETURNING \(unsafe: columns)
            """
        ).map { try AttemptStore.attempt(in: $0) }
    }

    /// The transactions that have attempts to take, those that are due the longest first.
    ///
    /// It reads nothing else of the attempts, so it also names those that cannot be read. Nothing is
    /// locked.
    ///
    /// - Parameters:
    ///   - time: The machines' time.
    ///   - storeTime: The store's time, by which approvals expire.
    ///   - limit: The most attempts of each kind to look at.
    ///   - left: Transactions that are left alone.
    ///   - connection: A connection.
    /// - Returns: The transactions, each once.
    /// - Throws: `PostgresError`.
    static func transactions(
        at time: MachineTime,
        approvalsEndedAt storeTime: StoreTime,
        limit: Int,
        besides left: Set<TransactionID>,
        on connection: isolated PostgresConnection
    ) throws -> [TransactionID] {
        let left = left.map(\.number)
        let rows = try connection.query(
            """
            (SELECT transaction_id FROM processor_attempts
                WHERE due_at <= \(time) AND transaction_id <> ALL (\(left))
                ORDER BY due_at LIMIT \(Int64(limit)))
            UNION ALL
            (SELECT transaction_id FROM processor_attempts
                WHERE approval_ends_at <= \(storeTime) AND due_at IS NULL
                    AND transaction_id <> ALL (\(left))
                ORDER BY approval_ends_at LIMIT \(Int64(limit)))
            """
        )
        var known: Set<Int64> = []
        return try rows.map { try $0.decode(Int64.self) }.filter { known.insert($0).inserted }
            .map(TransactionID.init(number:))
    }

    /// The columns of an attempt, which say whether the processor was called before it was taken.
    private static let columns = AttemptStore.columns.replacing(
        "a.is_uncalled",
        with: "due.is_uncalled"
    )
}
