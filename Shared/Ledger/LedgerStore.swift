import EventTypes
public import Postgres

/// The ledger's tables.
///
/// Postings are only appended, never updated or deleted.
public enum LedgerStore {
    /// Appends postings with their entries, in one statement for any number of postings.
    ///
    /// The database refuses a second posting of the same kind and number, and entries that do not
    /// balance. Then the next statement of the caller, or COMMIT, throws a `PostgresError` that
    /// names the constraint: `posted_once` or `entries_balance_to_zero`.
    public static func append(
        _ postings: [Posting],
        on connection: isolated PostgresConnection
    ) throws {
        guard !postings.isEmpty else { return }
        // Entry n of a posting stands at first + n - 1 of the lists of all entries.
        var firsts: [Int32] = []
        var lasts: [Int32] = []
        var accounts: [String] = []
        var amounts: [Int64] = []
        for posting in postings {
            // The balance is checked again here, in case a posting was made without the check of
            // its initialiser.
            precondition(Posting.isBalanced(posting.entries), "Only balanced postings are written.")
            firsts.append(Int32(accounts.count + 1))
            for entry in posting.entries {
                accounts.append(entry.account.name)
                amounts.append(entry.amount.minorUnits)
            }
            lasts.append(Int32(accounts.count))
        }
        // Most batches have one value of each of these.
        let kinds = postings.map(\.kind.rawValue)
        let numbers = postings.map { Int32($0.number) }
        let times = postings.map { PostgresTimestamp($0.time) }
        let currencies = postings.map { $0.entries[0].amount.currency.rawValue }
        try connection.enqueue(
            """
            INSERT INTO ledger_postings (
                xid, transaction_id, kind, number, id, posted_at, currency, accounts, amounts)
            SELECT (SELECT outbox_xid()), transaction_id, coalesce(kind, \(ifEqual: kinds)),
                coalesce(number, \(ifEqual: numbers)), id,
                coalesce(posted_at, \(ifEqual: times)), coalesce(currency, \(ifEqual: currencies)),
                (\(accounts))[first:last], (\(amounts))[first:last]
            FROM unnest(
                \(postings.map(\.transactionID.number)), \(unlessEqual: kinds),
                \(unlessEqual: numbers), \(postings.map(\.id.bytes)),
                \(unlessEqual: times), \(unlessEqual: currencies),
                \(firsts), \(lasts)) AS posting (
                    transaction_id, kind, number, id, posted_at, currency, first, last)
            """
        )
    }
}

extension PostgresTimestamp {
    fileprivate init(_ time: StoreTime) {
        self.init(microsecondsSinceEpoch: time.millisecondsSinceEpoch * 1000)
    }
}
