public import EventTypes
public import Postgres

/// The ledger's tables.
///
/// Postings are only appended, never updated or deleted.
public enum LedgerStore {
    /// Appends postings with their entries, in one statement for any number of postings.
    ///
    /// - Throws: ``LedgerError`` if a transaction has a posting of that kind and number already, or
    ///   if the database finds entries that do not balance; `PostgresError` for everything else.
    ///   Either way the caller's database transaction has to be rolled back.
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
        do {
            try connection.execute(
                """
                INSERT INTO ledger_postings
                    (transaction_id, kind, number, id, posted_at, currency, accounts, amounts)
                SELECT transaction_id, kind, number, id, posted_at, currency,
                    (\(accounts))[first:last], (\(amounts))[first:last]
                FROM unnest(
                    \(postings.map(\.transactionID.number)), \(postings.map(\.kind.rawValue)),
                    \(postings.map { Int32($0.number) }), \(postings.map(\.id.bytes)),
                    \(postings.map { PostgresTimestamp($0.time) }),
                    \(postings.map { $0.entries[0].amount.currency.rawValue }),
                    \(firsts), \(lasts)) AS posting (
                        transaction_id, kind, number, id, posted_at, currency, first, last)
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
            SELECT id, kind, number, posted_at, currency, accounts, amounts
            FROM ledger_postings WHERE transaction_id = \(transactionID.number)
            ORDER BY posted_at, xid, position
            """
        )
        return try rows.compactMap { row in
            let (id, kindName, number, time, code, accounts, amounts) = try row.decode(
                SIMD16<UInt8>.self,
                String.self,
                Int32.self,
                PostgresTimestamp.self,
                String.self,
                [String].self,
                [Int64].self
            )
            guard let kind = PostingKind(rawValue: kindName) else { return nil }
            let currency = Currency(unchecked: code)
            let entries = zip(accounts, amounts).compactMap { name, amount in
                LedgerAccount(name: name).map {
                    JournalEntry(account: $0, amount: Money(minorUnits: amount, currency: currency))
                }
            }
            // A newer version of the store may know more kinds and accounts.
            guard entries.count == amounts.count else { return nil }
            return Posting(
                id: PostingID(bytes: id),
                transactionID: transactionID,
                kind: kind,
                number: Int(number),
                time: Timestamp(time),
                entries: entries
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
