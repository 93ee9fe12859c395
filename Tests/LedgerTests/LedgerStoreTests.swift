import EventTypes
import Ledger
import Messaging
import Postgres
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct LedgerStoreTests {
    let time = StoreTime(millisecondsSinceEpoch: 1_800_000_000_000)
    static let role = "counterfoil_payments"
    static let migrations =
        MessagingMigrations.all(role: role) + LedgerMigrations.all(role: role)

    func posting(_ transaction: Int64, _ amount: Int64 = 999, number: Int = 1) -> Posting {
        let money = Money(minorUnits: amount, currency: Currency(unchecked: "USD"))
        return Posting(
            id: PostingID(time: time),
            transactionID: TransactionID(number: transaction),
            kind: .purchase,
            number: number,
            time: time,
            entries: [
                JournalEntry(account: .buyer(AccountID(unchecked: "alice")), amount: money.negated),
                JournalEntry(account: .storeRevenue, amount: money),
            ]
        )
    }

    func withLedger(
        role: String? = Self.role,
        _ body: (PostgresClient) async throws -> Void
    ) async throws {
        try await withTestDatabase(migrations: Self.migrations) { database in
            try await database.withClient(role: role, body)
        }
    }

    func code(of work: () async throws -> Void) async -> PostgresError.Code? {
        do {
            try await work()
            return nil
        } catch let error as PostgresError {
            return error.code
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }

    @Test func postingsAreReadBackAsTheyWereWrittenAndTheBooksBalance() async throws {
        try await withLedger { client in
            let postings = (1...500).map { posting($0, $0) }
            try await client.withTransaction { connection in
                try LedgerStore.append(postings, on: connection)
            }
            let (read, books) = try await client.withConnection { connection in
                (
                    try LedgerStore.postings(of: TransactionID(number: 7), on: connection),
                    try LedgerStore.trialBalance(on: connection)
                )
            }
            #expect(read == [postings[6]])
            #expect(books.map(\.isBalanced) == [true])
            #expect(books.first?.balances.map(\.account) == ["buyer", "store_revenue"])
            #expect(books.first?.balances.map(\.entryCount) == [500, 500])
        }
    }

    @Test func theSameKindAndNumberOfPostingIsRefusedTheSecondTime() async throws {
        try await withLedger { client in
            let first = [posting(1), posting(1, number: 2), posting(2)]
            let second = posting(1, number: 2)
            try await client.withTransaction { try LedgerStore.append(first, on: $0) }
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { try LedgerStore.append([second], on: $0) }
            }
            #expect(error?.constraint == "posted_once")
        }
    }

    @Test(arguments: [
        ("{store_revenue,buyer:alice}", "{5,-4}"),
        ("{store_revenue,tax_payable,buyer:alice}", "{5,1,-5}"),
        ("{store_revenue}", "{0}"), ("{store_revenue,buyer:alice}", "{0,0}"),
        ("{store_revenue,buyer:alice}", "{5,-5,0}"), ("{}", "{}"),
        ("{store_revenue,buyer:alice}", "{5,NULL}"), ("{store_revenue,NULL}", "{5,-5}"),
        ("{store_revenue,buyer:alice}", "{NULL,NULL}"),
        ("{store_revenue,tax_payable,buyer:alice}", "{5,-5,NULL}"),
        ("{store_revenue,buyer:alice}", "{5}"),
        ("{{store_revenue},{buyer:alice}}", "{{5},{-5}}"),
        ("{store_revenue,buyer:alice}", "[2:3]={5,-5}"),
        ("{a,b,c,d,e}", "{1,1,1,1,-4}"), ("{a,b,c,d,e}", "{1,1,1,-3,9}"),
    ])
    func theDatabaseRefusesEntriesThatDoNotBalance(accounts: String, amounts: String) async throws {
        try await withLedger { client in
            let id = PostingID(time: time).bytes
            let code = await code {
                try await client.withTransaction { connection in
                    _ = try connection.execute(
                        """
                        INSERT INTO ledger_postings
                            (transaction_id, kind, number, id, posted_at, currency, accounts, amounts)
                        VALUES (1, 'purchase', 1, \(id), now(), 'USD', \(accounts)::text::text[],
                            \(amounts)::text::bigint[])
                        """
                    )
                }
            }
            #expect(code == .checkViolation)
        }
    }

    @Test func entriesAreReadOneByOne() async throws {
        try await withLedger { client in
            let postings = [posting(1), posting(2, 5)]
            let entries = try await client.withTransaction { connection in
                try LedgerStore.append(postings, on: connection)
                return try connection.query(
                    """
                    SELECT entry_number, account, amount, currency FROM ledger_entries
                    WHERE transaction_id = 2 ORDER BY entry_number
                    """
                ).map { row in
                    let (number, account, amount, currency) = try row.decode(
                        Int32.self,
                        String.self,
                        Int64.self,
                        String.self
                    )
                    return "\(number) \(account) \(amount) \(currency)"
                }
            }
            #expect(entries == ["1 buyer:alice -5 USD", "2 store_revenue 5 USD"])
        }
    }

    static let changes: [SQL] = [
        "UPDATE ledger_postings SET kind = kind",
        "DELETE FROM ledger_postings", "TRUNCATE ledger_postings",
    ]

    @Test func noRoleChangesTheBooksNotEvenTheOwner() async throws {
        try await withTestDatabase(migrations: Self.migrations) { database in
            for role in [Self.role, nil] {
                try await database.withClient(role: role) { client in
                    for change in Self.changes {
                        let code = await code {
                            _ = try await client.withConnection { try $0.execute(change) }
                        }
                        #expect(code == .insufficientPrivilege, "\(change.text)")
                    }
                }
            }
        }
    }

    @Test func aMigrationThatSaysSoMayChangeTheBooks() async throws {
        try await withLedger(role: nil) { client in
            try await client.withTransaction { connection in
                try connection.execute("SET LOCAL counterfoil.migrating = 'on'")
                try connection.execute("DELETE FROM ledger_postings")
            }
        }
    }
}
