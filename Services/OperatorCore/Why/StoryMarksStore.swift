import EventTypes
import Messaging
import Postgres

/// The SQL that reads which events consumers have applied, and the purchases of an account.
enum StoryMarksStore {
    /// Reads what a consumer did with some events of an account.
    static func marks(
        of consumer: String,
        on events: [AppliedEvents.Entry],
        of account: AccountID,
        connection: isolated PostgresConnection
    ) throws -> ConsumerMarks {
        var marks = ConsumerMarks()
        marks.done = try AppliedEvents.among(events, by: consumer, on: connection)
        for row in try connection.query(
            """
            SELECT event_id, id, state FROM dead_letters
            WHERE consumer = \(consumer) AND event_id = ANY(\(events.map(\.id)))
            """
        ) {
            let (event, id, state) = try row.decode(EventID.self, Int64.self, String.self)
            marks.letters[event] = (id, state)
        }
        marks.blocker = try connection.query(
            """
            SELECT id FROM dead_letters
            WHERE consumer = \(consumer) AND key = \(account) AND state = 'dead' ORDER BY id LIMIT 1
            """
        ).first?.decode(Int64.self)
        return marks
    }

    /// Whether `payments` has a transaction.
    static func knows(
        _ id: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        try !connection.query("SELECT 1 FROM transactions WHERE id = \(id.number)").isEmpty
    }

    /// The topic, the key and the subject of an event in the log; `nil` if it is not there.
    static func event(
        _ id: EventID,
        on connection: isolated PostgresConnection
    ) throws -> FoundEvent? {
        try connection.query(
            "SELECT topic, key, subject FROM outbox WHERE event_id = \(id) LIMIT 1"
        ).first.map { row in
            let (topic, key, subject) = try row.decode(String.self, String.self, String.self)
            return FoundEvent(topic: topic, key: key, subject: subject)
        }
    }

    /// Reads the transactions in an account's queues, finished or not, newest first.
    static func purchases(
        of account: AccountID,
        before id: TransactionID?,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [AccountStory.Purchase] {
        try connection.query(purchasesStatement(of: account, before: id, limit: limit)).map { row in
            let (id, bundle, state, product, isDelivered, finished, changed, isRevoked) =
                try row.decode(
                    Int64.self,
                    BundleID.self,
                    String.self,
                    String?.self,
                    Bool.self,
                    StoreTime?.self,
                    StoreTime.self,
                    Bool.self
                )
            return AccountStory.Purchase(
                transactionID: TransactionID(number: id),
                bundleID: bundle,
                productID: product ?? "",
                state: state,
                isDelivered: isDelivered,
                isRevoked: isRevoked,
                finishedAt: finished,
                changedAt: changed
            )
        }
    }

    /// The statement that reads a page of these transactions; its order is that of one index only.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - id: The end of the page before; `nil` for the first page.
    ///   - limit: The most transactions.
    ///   - prefix: Text before the statement, such as `EXPLAIN`.
    /// - Returns: The statement.
    static func purchasesStatement(
        of account: AccountID,
        before id: TransactionID?,
        limit: Int,
        prefix: String = ""
    ) -> SQL {
        """
        \(unsafe: prefix) SELECT transaction_id, bundle_id, state,
            unpacked_json(transaction)::json ->> 'productID', is_delivered, finished_at,
            changed_at, revoked_at IS NOT NULL
        FROM queue_transactions
        WHERE account_id = \(account) AND -transaction_id > \(-(id?.number ?? Int64.max))
        ORDER BY -transaction_id LIMIT \(Int64(limit))
        """
    }
}
