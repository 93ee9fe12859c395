import EventTypes
import Ledger
import Messaging
import Postgres
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct LedgerStoreTests {
    let time = Timestamp(millisecondsSinceEpoch: 1_800_000_000_000)
    static let role = "counterfoil_payments"
    static let migrations =
        MessagingMigrations.all(role: role) + LedgerMigrations.all(role: role)

    func posting(_ transaction: Int64, _ amount: Int64 = 999) -> Posting {
        let money = Money(minorUnits: amount, currency: Currency(unchecked: "USD"))
        return Posting(
            id: PostingID(time: time),
            kind: .purchase,
            transactionID: TransactionID(number: transaction),
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

    @Test func theSameKindOfPostingIsRefusedTheSecondTime() async throws {
        try await withLedger { client in
            let first = posting(1)
            let second = posting(1)
            try await client.withTransaction { try LedgerStore.append([first], on: $0) }
            let error = await #expect(throws: LedgerError.self) {
                try await client.withTransaction { try LedgerStore.append([second], on: $0) }
            }
            #expect(error?.code == .alreadyPosted)
        }
    }

    @Test func theDatabaseRefusesEntriesThatDoNotBalance() async throws {
        try await withLedger { client in
            let id = PostingID(time: time).bytes
            let code = await code {
                try await client.withTransaction { connection in
                    try connection.execute(
                        """
                        INSERT INTO ledger_postings (id, transaction_id, kind, posted_at)
                        VALUES (\(id), 1, 'purchase', now())
                        """
                    )
                    try connection.execute(
                        """
                        INSERT INTO ledger_entries
                            (posting_id, entry_number, account, amount, currency)
                        VALUES (\(id), 1, 'store_revenue', 5, 'USD'),
                            (\(id), 2, 'buyer:alice', -5, 'EUR')
                        """
                    )
                }
            }
            #expect(code == .checkViolation)
        }
    }

    @Test func theDatabaseRefusesEntriesOfNoPosting() async throws {
        try await withLedger { client in
            let id = PostingID(time: time).bytes
            let code = await code {
                try await client.withTransaction { connection in
                    _ = try connection.execute(
                        """
                        INSERT INTO ledger_entries
                            (posting_id, entry_number, account, amount, currency)
                        VALUES (\(id), 1, 'store_revenue', 5, 'USD'),
                            (\(id), 2, 'buyer:alice', -5, 'USD')
                        """
                    )
                }
            }
            #expect(code == .foreignKeyViolation)
        }
    }

    static let changes: [SQL] = [
        "UPDATE ledger_entries SET amount = amount", "DELETE FROM ledger_entries",
        "TRUNCATE ledger_entries", "UPDATE ledger_postings SET kind = kind",
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
                try connection.execute("DELETE FROM ledger_entries")
            }
        }
    }
}
