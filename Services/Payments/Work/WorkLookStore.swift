import EventTypes
import Postgres

/// The SQL of ``WorkLook``.
enum WorkLookStore {
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

    /// The kinds of work that there are, taken by somebody or not.
    ///
    /// - Parameters:
    ///   - time: The store's time.
    ///   - connection: A connection.
    /// - Returns: The kinds.
    /// - Throws: `PostgresError`.
    static func kinds(
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> Set<Kind> {
        let rows = try connection.query(
            """
            SELECT EXISTS (SELECT 1 FROM subscriptions WHERE due_at <= \(time)),
                EXISTS (SELECT 1 FROM mass_extensions WHERE completed_at IS NULL),
                EXISTS (SELECT 1 FROM price_enrolments WHERE NOT is_finished),
                EXISTS (SELECT 1 FROM family_work)
            """
        )
        guard let row = rows.first else { return [] }
        let (renewals, extensions, enrolments, families) = try row.decode(
            Bool.self,
            Bool.self,
            Bool.self,
            Bool.self
        )
        var kinds: Set<Kind> = []
        if renewals { kinds.insert(.renewals) }
        if extensions { kinds.insert(.extensions) }
        if enrolments { kinds.insert(.enrolments) }
        if families { kinds.insert(.families) }
        return kinds
    }
}
