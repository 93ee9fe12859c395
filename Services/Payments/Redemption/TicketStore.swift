import EventTypes
import Postgres
import StoreAPI

/// The tables of the tickets for the page, and of the tries of accounts.
enum TicketStore {
    /// Writes a ticket, and deletes some of those that are over.
    ///
    /// Rows that somebody else deletes at this moment are skipped, so this waits for nobody. They are
    /// found by their places, because a join with the table may read all of it.
    static func insert(
        _ ticket: RedemptionTicket,
        _ digest: String,
        at now: MachineTime,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.enqueue(
            """
            DELETE FROM redemption_tickets WHERE ctid = ANY(ARRAY(
                SELECT ctid FROM redemption_tickets WHERE ends_at < \(now)
                ORDER BY ends_at LIMIT 256 FOR UPDATE SKIP LOCKED))
            """
        )
        try connection.enqueue(
            """
            INSERT INTO redemption_tickets (digest, account_id, bundle_id, storefront,
                payment_method, application_username, ends_at)
            VALUES (\(digest), \(ticket.account.accountID), \(ticket.account.bundleID),
                \(ticket.storefront), \(ticket.paymentMethod.rawValue),
                \(ticket.applicationUsername as String?), \(ticket.endsAt))
            """
        )
    }

    /// Reads a ticket that is good at a time; `nil` if there is none.
    static func ticket(
        _ digest: String,
        at now: MachineTime
    ) -> PostgresReading<RedemptionTicket?> {
        PostgresReading(
            """
            SELECT account_id, bundle_id, storefront, payment_method, application_username, ends_at,
                shown
            FROM redemption_tickets WHERE digest = \(digest) AND ends_at > \(now)
            """
        ) { rows in
            try rows.first.map { row in
                let (account, bundle, storefront, method, username, end, shown) = try row.decode(
                    AccountID.self,
                    BundleID.self,
                    Storefront.self,
                    String.self,
                    String?.self,
                    MachineTime.self,
                    String?.self
                )
                return RedemptionTicket(
                    account: AccountKey(accountID: account, bundleID: bundle),
                    storefront: storefront,
                    paymentMethod: PaymentMethod(rawValue: method),
                    applicationUsername: username,
                    endsAt: end,
                    shown: shown.map(CodeDigest.init(text:))
                )
            }
        }
    }

    /// Notes that the page shows a code's terms to the holder of a ticket.
    static func show(
        _ code: CodeDigest,
        with digest: String,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.enqueue(
            """
            UPDATE redemption_tickets SET shown = \(code.text)
            WHERE digest = \(digest) AND shown IS DISTINCT FROM \(code.text)
            """
        )
    }

    /// Locks an account's count of unknown codes, and returns how many it has typed in the window.
    ///
    /// Tries at once wait for each other here, so no number of them can make more.
    static func lockTries(
        of account: AccountKey,
        at now: MachineTime,
        window: Duration,
        on connection: isolated PostgresConnection
    ) throws -> Int {
        let start = now.advanced(by: .zero - window)
        let rows = try connection.query(
            """
            INSERT INTO redemption_tries AS t (account_id, bundle_id, since, tries)
            VALUES (\(account.accountID), \(account.bundleID), \(now), 0)
            ON CONFLICT (account_id, bundle_id) DO UPDATE SET
                tries = CASE WHEN t.since < \(start) THEN 0 ELSE t.tries END,
                since = CASE WHEN t.since < \(start) OR t.tries = 0 THEN \(now) ELSE t.since END
            RETURNING tries
            """
        )
        return try rows.first.map { Int(try $0.decode(Int32.self)) } ?? 0
    }

    /// Counts an unknown code of an account whose count is locked.
    static func countTry(
        of account: AccountKey,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.enqueue(
            """
            UPDATE redemption_tries SET tries = tries + 1
            WHERE account_id = \(account.accountID) AND bundle_id = \(account.bundleID)
            """
        )
    }
}
