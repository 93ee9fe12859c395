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
        let sql = Self.look(for: Kind.allCases, at: time, machinesAt: machineTime)
        return try await client.withConnection { connection in
            var found: Set<Kind> = []
            guard let row = try connection.query(sql).first else { return found }
            var columns = try row.columns(Kind.allCases.count)
            for kind in Kind.allCases {
                if try columns.next(Bool.self) { found.insert(kind) }
            }
            return found
        }
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
        let sql = Self.look(for: [kind], at: time, machinesAt: machineTime)
        let found = try await client.withConnection { connection in
            try connection.query(sql).first?.decode(Bool.self)
        }
        return found ?? false
    }

    /// The question whether there is work of each of several kinds.
    private static func look(
        for kinds: [Kind],
        at time: StoreTime,
        machinesAt machineTime: MachineTime
    ) -> SQL {
        let conditions = kinds.map(\.condition).joined(separator: ", ")
        return """
            SELECT \(unsafe: conditions)
            FROM (SELECT \(time) AS store_time, \(machineTime) AS machine_time) AS now
            """
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

extension WorkLookStore.Kind {
    /// The condition under which there is such work, by the times of the question.
    fileprivate var condition: String {
        switch self {
        case .renewals: "EXISTS (SELECT FROM subscriptions WHERE due_at <= store_time)"
        case .extensions: "EXISTS (SELECT FROM mass_extensions WHERE completed_at IS NULL)"
        case .enrolments: "EXISTS (SELECT FROM price_enrolments WHERE NOT is_finished)"
        case .families: "EXISTS (SELECT FROM family_work)"
        case .attempts:
            """
            EXISTS (SELECT FROM processor_attempts WHERE due_at <= machine_time)
                OR EXISTS (SELECT FROM processor_attempts
                    WHERE approval_ends_at <= store_time AND due_at IS NULL)
            """
        }
    }
}
