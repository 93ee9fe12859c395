public import EventTypes
public import Ledger
public import Postgres

extension LedgerStore {
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
                time: StoreTime(millisecondsSinceEpoch: time.microsecondsSinceEpoch / 1000),
                entries: entries
            )
        }
    }
}

extension LedgerAccount {
    /// Parses a name written by ``name``.
    ///
    /// - Returns: `nil` if the string is not the name of an account.
    public init?(name: String) {
        switch name {
        case "store_revenue": self = .storeRevenue
        case "tax_payable": self = .taxPayable
        case "refunds": self = .refunds
        case "processor_clearing": self = .processorClearing
        case "chargebacks": self = .chargebacks
        case "processor_payments": self = .processorPayments
        case "processor_balance": self = .processorBalance
        case "processor_fees": self = .processorFees
        case "bank": self = .bank
        case "processor_other": self = .processorOther
        default:
            guard name.hasPrefix("buyer:") else { return nil }
            self = .buyer(AccountID(unchecked: String(name.dropFirst("buyer:".count))))
        }
    }
}
