import EventTypes
import Postgres

/// The SQL of ``WorkLook``.
struct WorkLookStore: Sendable {
    let client: PostgresClient

    /// A kind of work.
    enum Kind {
        /// Actions of subscriptions that are due.
        case renewals
        /// Extensions of all subscribers of a product.
        case extensions
        /// Higher prices of which subscribers have to be told.
        case enrolments
        /// Accounts whose families may have something else to share.
        case families
    }

    /// Waits until the database has the tables of the work.
    ///
    /// - Throws: `CancellationError` if the task was cancelled.
    func waitForSchema() async throws { try await client.waitForSchema() }

    /// The kinds of work that there are, taken by somebody or not.
    ///
    /// - Parameter time: The store's time.
    /// - Returns: The kinds.
    /// - Throws: `PostgresError`, or `CancellationError` if the task was cancelled.
    func kinds(at time: StoreTime) async throws -> Set<Kind> {
        let found = try await client.withConnection { connection in
            try connection.query(
                """
                SELECT EXISTS (SELECT 1 FROM subscriptions WHERE due_at <= \(time)),
                    EXISTS (SELECT 1 FROM mass_extensions WHERE completed_at IS NULL),
                    EXISTS (SELECT 1 FROM price_enrolments WHERE NOT is_finished),
                    EXISTS (SELECT 1 FROM family_work)
                """
            ).first?.decode(Bool.self, Bool.self, Bool.self, Bool.self)
        }
        guard let (renewals, extensions, enrolments, families) = found else { return [] }
        var kinds: Set<Kind> = []
        if renewals { kinds.insert(.renewals) }
        if extensions { kinds.insert(.extensions) }
        if enrolments { kinds.insert(.enrolments) }
        if families { kinds.insert(.families) }
        return kinds
    }
}
