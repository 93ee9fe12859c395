public import EventTypes
public import Postgres

/// The ledger's tables.
///
/// Postings are only appended, never updated or deleted.
public enum LedgerStore {
    /// Appends postings with all their entries, in two statements for any number of postings.
    ///
    /// - Throws: ``LedgerError`` if a transaction has a posting of that kind already, or if the
    ///   database finds entries that do not balance; `PostgresError` for everything else. Either
    ///   way the caller's database transaction has to be rolled back.
    public static func append(
        _ postings: [Posting],
        on connection: isolated PostgresConnection
    ) throws {
        guard !postings.isEmpty else { return }
        var entryPostings: [SIMD16<UInt8>] = []
        var entryNumbers: [Int32] = []
        var accounts: [String] = []
        var amounts: [Int64] = []
        var currencies: [String] = []
        for posting in postings {
            // The balance is checked again here, in case a posting was made without the check of
            // its initialiser.
            precondition(Posting.isBalanced(posting.entries), "Only balanced postings are written.")
            for (number, entry) in posting.entries.enumerated() {
                entryPostings.append(posting.id.bytes)
                entryNumbers.append(Int32(number + 1))
                accounts.append(entry.account.name)
                amounts.append(entry.amount.minorUnits)
                currencies.append(entry.amount.currency.rawValue)
            }
        }
        do {
            try connection.execute(
                """
                INSERT INTO ledger_postings (id, transaction_id, kind, posted_at)
                SELECT * FROM unnest(
                    \(postings.map(\.id.bytes)), \(postings.map(\.transactionID.number)),
                    \(postings.map(\.kind.rawValue)),
                    \(postings.map { PostgresTimestamp($0.time) }))
                """
            )
            try connection.execute(
                """
                INSERT INTO ledger_entries (posting_id, entry_number, account, amount, currency)
                SELECT * FROM unnest(
                    \(entryPostings), \(entryNumbers), \(accounts), \(amounts), \(currencies))
                """
            )
        } catch {
            if let refusal = LedgerError(error) { throw refusal }
            throw error
        }
    }

    /// Reads the trial balances of all currencies for an audit; each has to be
    /// ``TrialBalance/isBalanced``.
    ///
    /// Reads the whole ledger.
    public static func trialBalance(
        on connection: isolated PostgresConnection
    ) throws -> [TrialBalance] {
        let rows = try connection.query(
            """
            SELECT currency, split_part(account, ':', 1), sum(amount)::bigint, count(*)
            FROM ledger_entries GROUP BY 1, 2 ORDER BY 1, 2
            """
        )
        var byCurrency: [(Currency, [Balance])] = []
        for row in rows {
            let (code, account, sum, count) = try row.decode(
                String.self,
                String.self,
                Int64.self,
                Int64.self
            )
            let currency = Currency(unchecked: code)
            let balance = Balance(
                account: account,
                amount: Money(minorUnits: sum, currency: currency),
                entryCount: Int(count)
            )
            if byCurrency.last?.0 == currency {
                byCurrency[byCurrency.count - 1].1.append(balance)
            } else {
                byCurrency.append((currency, [balance]))
            }
        }
        return byCurrency.map { TrialBalance(currency: $0.0, balances: $0.1) }
    }

    /// The postings of one transaction, in the order of time.
    public static func postings(
        of transactionID: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> [Posting] {
        let rows = try connection.query(
            """
            SELECT p.id, p.kind, p.posted_at, e.account, e.amount, e.currency
            FROM ledger_postings p JOIN ledger_entries e ON e.posting_id = p.id
            WHERE p.transaction_id = \(transactionID.number)
            ORDER BY p.posted_at, p.id, e.entry_number
            """
        )
        var found: [(PostingID, PostingKind, Timestamp, [JournalEntry])] = []
        for row in rows {
            let (bytes, kindName, time, accountName, amount, currency) = try row.decode(
                SIMD16<UInt8>.self,
                String.self,
                PostgresTimestamp.self,
                String.self,
                Int64.self,
                String.self
            )
            let id = PostingID(bytes: bytes)
            guard let kind = PostingKind(rawValue: kindName),
                let account = LedgerAccount(name: accountName)
            else { continue }
            let entry = JournalEntry(
                account: account,
                amount: Money(minorUnits: amount, currency: Currency(unchecked: currency))
            )
            if found.last?.0 == id {
                found[found.count - 1].3.append(entry)
            } else {
                found.append((id, kind, Timestamp(time), [entry]))
            }
        }
        return found.map {
            Posting(
                id: $0.0,
                kind: $0.1,
                transactionID: transactionID,
                time: $0.2,
                entries: $0.3
            )
        }
    }
}

extension LedgerError {
    /// Converts the database's two refusals of a posting; `nil` for any other error.
    init?(_ error: PostgresError) {
        switch error.constraint {
        case "posted_once": self.init(.alreadyPosted, underlying: error)
        case "entries_balance_to_zero": self.init(.unbalanced, underlying: error)
        default: return nil
        }
    }
}

extension PostgresTimestamp {
    fileprivate init(_ time: Timestamp) {
        self.init(microsecondsSinceEpoch: time.millisecondsSinceEpoch * 1000)
    }
}

extension Timestamp {
    fileprivate init(_ time: PostgresTimestamp) {
        self.init(millisecondsSinceEpoch: time.microsecondsSinceEpoch / 1000)
    }
}
