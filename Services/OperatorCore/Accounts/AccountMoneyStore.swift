import EventTypes
import Foundation
import Postgres

/// The SQL that reads the money of some purchases, by key, from the database of `payments`.
enum AccountMoneyStore {
    /// Reads the terms of some purchases, and adds up their postings.
    static func money(
        of ids: [TransactionID],
        on connection: isolated PostgresConnection
    ) throws -> AccountMoney {
        AccountMoney(
            purchases: try purchases(ids, on: connection),
            sums: try sums(of: ids, on: connection)
        )
    }

    private static func purchases(
        _ ids: [TransactionID],
        on connection: isolated PostgresConnection
    ) throws -> [TransactionID: AccountMoney.Purchase] {
        var found: [TransactionID: AccountMoney.Purchase] = [:]
        for row in try connection.query(
            """
            SELECT id, quantity, price, currency, requested_at, purchased_at, refunds
            FROM transactions WHERE id = ANY(\(ids.map(\.number)))
            """
        ) {
            let (id, quantity, price, currency, requested, purchased, refunds) = try row.decode(
                Int64.self,
                Int32.self,
                Int64.self,
                Currency.self,
                StoreTime.self,
                StoreTime?.self,
                PostgresJSON?.self
            )
            let made = try refunds.map {
                try JSONDecoder().decode([Refund].self, from: Data($0.bytes))
            }
            let givenBack = (made ?? []).filter { $0.reversedAt == nil }
                .reduce(Int64(0)) { $0 + $1.amount.minorUnits }
            found[TransactionID(number: id)] = AccountMoney.Purchase(
                quantity: Int(quantity),
                price: Money(minorUnits: price, currency: currency),
                time: purchased ?? requested,
                givenBack: Money(minorUnits: givenBack, currency: currency)
            )
        }
        return found
    }

    private static func sums(
        of ids: [TransactionID],
        on connection: isolated PostgresConnection
    ) throws -> [Story.Posting.Entry] {
        try connection.query(
            """
            SELECT entry.account, posting.currency, sum(entry.amount)::bigint
            FROM ledger_postings posting
            CROSS JOIN LATERAL unnest(posting.accounts, posting.amounts) AS entry (account, amount)
            WHERE posting.transaction_id = ANY(\(ids.map(\.number)))
            GROUP BY posting.currency, entry.account ORDER BY posting.currency, entry.account
            """
        ).map { row in
            let (account, currency, amount) = try row.decode(
                String.self,
                Currency.self,
                Int64.self
            )
            return Story.Posting.Entry(
                account: account,
                amount: Money(minorUnits: amount, currency: currency)
            )
        }
    }
}
