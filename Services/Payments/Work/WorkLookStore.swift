import EventTypes
import Postgres

/// The SQL of ``WorkLook``.
struct WorkLookStore: Sendable {
    let client: PostgresClient

    /// A kind of work.
    enum Kind: CaseIterable {
        /// Actions of subscriptions that are due.
        case renewals
        /// Extensions of all subscribers of a product.
        case extensions
        /// Higher prices of which subscribers have to be told.
        case enrolments
        /// Accounts whose families may have something else to share.
        case families
        /// Attempts that are due, or whose approval has expired.
        case attempts
    }

    /// Waits until the database has the tables of the work.
    ///
    /// - Throws: `CancellationError` if the task was cancelled.
    func waitForSchema() async throws { try await client.waitForSchema() }

    /// The kinds of work that there are, taken by somebody or not.
    ///
    /// - Parameters:
    ///   - time: The store's time.
    ///   - machineTime: The machines' time, by which attempts fall due.
    /// - Returns: The kinds.
    /// - Throws: `PostgresError`, or `CancellationError` if the task was cancelled.
    func kinds(at time: StoreTime, machinesAt machineTime: MachineTime) async throws -> Set<Kind> {
        let found = try await client.withConnection { connection in
            try connection.query(
                """
                SELECT EXISTS (SELECT 1 FROM subscriptions WHERE due_at <= \(time)),
                    EXISTS (SELECT 1 FROM mass_extensions WHERE completed_at IS NULL),
                    EXISTS (SELECT 1 FROM price_enrolments WHERE NOT is_finished),
                    EXISTS (SELECT 1 FROM family_work),
                    EXISTS (SELECT 1 FROM processor_attempts WHERE due_at <= \(machineTime))
                        OR EXISTS (
                            SELECT 1 FROM processor_attempts
                            WHERE approval_ends_at <= \(time) AND due_at IS NULL
                        )
                """
            ).first?.decode(Bool.self, Bool.self, Bool.self, Bool.self, Bool.self)
        }
        guard let (renewals, extensions, enrolments, families, attempts) = found else { return [] }
        var kinds: Set<Kind> = []
        if renewals { kinds.insert(.renewals) }
        if extensions { kinds.insert(.extensions) }
        if enrolments { kinds.insert(.enrolments) }
        if families { kinds.insert(.families) }
        if attempts { kinds.insert(.attempts) }
        return kinds
    }

    /// Looks for work of one kind, whatever is wrong with the tables of the others.
    ///
    /// - Parameters:
    ///   - kind: The kind.
    ///   - time: The store's time.
    ///   - machineTime: The machines' time.
    /// - Returns: Whether there is any, taken by somebody or not.
    /// - Throws: `PostgresError`, or `CancellationError` if the task was cancelled.
    func has(
        _ kind: Kind,
        at time: StoreTime,
        machinesAt machineTime: MachineTime
    ) async throws -> Bool {
        let sql: SQL =
            switch kind {
            case .renewals: "SELECT EXISTS (SELECT 1 FROM subscriptions WHERE due_at <= \(time))"
            case .extensions:
                "SELECT EXISTS (SELECT 1 FROM mass_extensions WHERE completed_at IS NULL)"
            case .enrolments: "SELECT EXISTS (SELECT 1 FROM price_enrolments WHERE NOT is_finished)"
            case .families: "SELECT EXISTS (SELECT 1 FROM family_work)"
            case .attempts:
                """
                SELECT EXISTS (SELECT 1 FROM processor_attempts WHERE due_at <= \(machineTime))
                    OR EXISTS (SELECT 1 FROM processor_attempts
                        WHERE approval_ends_at <= \(time) AND due_at IS NULL)
                """
            }
        let found = try await client.withConnection { connection in
            try connection.query(sql).first?.decode(Bool.self)
        }
        return found ?? false
    }

    /// Decides whether the server has refused a look because of one of its tables.
    ///
    /// - Parameter error: The error of a look at all kinds.
    /// - Returns: Whether the other tables may be looked at; not if the database is away.
    static func isOfTable(_ error: any Error) -> Bool {
        guard let error = error as? PostgresError else { return false }
        return error.sqlState != nil && !error.isRetriable
    }
}
