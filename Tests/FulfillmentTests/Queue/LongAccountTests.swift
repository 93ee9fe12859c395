import EventTypes
import Postgres
import TestSupport
import Testing

@testable import Fulfillment
@testable import OperatorCore

/// An account with very many transactions: its pages cost what those of any other account cost.
@Suite(.timeLimit(.minutes(10)))
struct LongAccountTests {
    private static let ada = AccountID(unchecked: "ada")

    /// Runs a body as the owner of the tables, who may have them analyzed.
    private func withLongAccounts(
        _ body: @Sendable @escaping (PostgresClient) async throws -> Void
    ) async throws {
        try await withTestDatabase(migrations: FulfillmentMigrations.all) { database in
            try await database.withClient(body)
        }
    }

    /// Writes transactions of an account; every hundredth one is not finished.
    private func fill(_ client: PostgresClient, _ account: String, _ numbers: String)
        async throws
    {
        try await client.withConnection { connection in
            try connection.execute(
                """
                INSERT INTO queue_transactions (transaction_id, account_id, bundle_id, version,
                    state, transaction, is_delivered, finished_at, revision, changed_at)
                SELECT n, \(unsafe: account), 'com.example.app', 3, 'purchased',
                    '{"productID":"coins"}', true, CASE WHEN n % 100 > 0 THEN now() END, n, now()
                FROM \(unsafe: numbers) AS n
                """
            )
        }
    }

    /// The number of 8 KB blocks that a page reads.
    private func blocks(
        _ client: PostgresClient,
        of account: AccountID = ada,
        before id: Int64? = nil
    ) async throws -> Int {
        try await client.withConnection { connection in
            let plan = try connection.query(
                StoryMarksStore.purchasesStatement(
                    of: account,
                    before: id.map { TransactionID(number: $0) },
                    limit: 51,
                    prefix: "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF)"
                )
            ).map { try $0.decode(String.self) }
            return try blocksRead(in: plan)
        }
    }

    @Test func aPageOfALongAccountReadsNoMoreThanOneOfAShortOne() async throws {
        try await withLongAccounts { client in
            try await fill(client, "'ada'", "generate_series(1, 100000)")
            try await fill(client, "'ben'", "generate_series(100001, 100100)")
            // Many others have bought since, so that the newest rows are not those of an account.
            try await fill(client, "'other-' || n % 1000", "generate_series(100101, 200000)")
            try await client.withConnection { try $0.execute("ANALYZE queue_transactions") }
            let short = try await blocks(client, of: AccountID(unchecked: "ben"))
            for id in [nil, Int64(99_000), 50_000, 52] {
                let found = try await blocks(client, before: id)
                #expect(found <= short + 20, "before \(id ?? 0): \(found) blocks, not \(short)")
            }
        }
    }

    /// The number of 8 KB blocks that a page of what an account owns reads.
    private func entitlementBlocks(
        _ client: PostgresClient,
        of account: AccountID = ada,
        after id: Int64? = nil
    ) async throws -> Int {
        try await client.withConnection { connection in
            let plan = try connection.query(
                EntitlementReadStore.pageStatement(
                    of: QueueKey(accountID: account, bundleID: appID),
                    after: id.map { TransactionID(number: $0) },
                    limit: EntitlementReadStore.pageSize,
                    prefix: "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF)"
                )
            ).map { try $0.decode(String.self) }
            return try blocksRead(in: plan)
        }
    }

    @Test func aPageOfManyEntitlementsReadsNoMoreThanOneOfAFew() async throws {
        try await withLongAccounts { client in
            try await client.withConnection { connection in
                try connection.execute(
                    """
                    INSERT INTO entitlements (account_id, bundle_id, product_id,
                        original_transaction_id, granted_at)
                    SELECT CASE WHEN n > 100000 THEN 'ben' ELSE 'ada' END, \(appID),
                        'season.' || n % 3, n, now()
                    FROM generate_series(1, 100300) AS n
                    """
                )
                try connection.execute("ANALYZE entitlements")
            }
            let short = try await entitlementBlocks(client, of: AccountID(unchecked: "ben"))
            for id in [nil, Int64(99_000), 50_000, 250] {
                let found = try await entitlementBlocks(client, after: id)
                #expect(found <= short + 20, "after \(id ?? 0): \(found) blocks, not \(short)")
            }
        }
    }

    /// The number of 8 KB blocks that the names of what an account may use read.
    private func nameBlocks(
        _ client: PostgresClient,
        of account: AccountID = ada
    ) async throws -> Int {
        try await client.withConnection { connection in
            let plan = try connection.query(
                EntitlementReadStore.lastingStatement(
                    of: [QueueKey(accountID: account, bundleID: appID)],
                    at: startOfTime,
                    prefix: "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF)"
                )
            ).map { try $0.decode(String.self) }
            return try blocksRead(in: plan)
        }
    }

    @Test func namesOfManyEntitlementsReadNoMoreThanThoseOfAFew() async throws {
        try await withLongAccounts { client in
            let past = startOfTime.advanced(by: .seconds(-3600))
            let soon = startOfTime.advanced(by: .seconds(3600))
            try await client.withConnection { connection in
                // Of three products, one lasts, one ends later, and one is over, each many times.
                try connection.execute(
                    """
                    INSERT INTO entitlements (account_id, bundle_id, product_id,
                        original_transaction_id, granted_at, revoked_at, ends_at)
                    SELECT CASE WHEN n > 100000 THEN 'ben' ELSE 'ada' END, \(appID),
                        'season.' || n % 3, n, \(past), CASE WHEN n % 7 = 0 THEN \(past) END,
                        CASE n % 3 WHEN 1 THEN \(soon) WHEN 2 THEN \(past) END
                    FROM generate_series(1, 100030) AS n
                    """
                )
                try connection.execute(
                    """
                    INSERT INTO products (id, version, entitlements)
                    SELECT 'season.' || n, 1, '["pro"]' FROM generate_series(0, 2) AS n
                    """
                )
                try connection.execute("ANALYZE entitlements, products, subscriptions")
            }
            let short = try await nameBlocks(client, of: AccountID(unchecked: "ben"))
            let long = try await nameBlocks(client)
            #expect(long <= short + 20, "\(long) blocks, not \(short)")
            let queue = QueueKey(accountID: Self.ada, bundleID: appID)
            let owned = try await client.withConnection { connection in
                try EntitlementReadStore.lasting(of: [queue], at: startOfTime, on: connection)
            }
            #expect(owned[queue]?.map(\.transactionID.number) == [1, 3])
        }
    }

    /// The number of 8 KB blocks that the console reads for what an account has now.
    private func ownedBlocks(
        _ client: PostgresClient,
        of account: AccountID = ada
    ) async throws -> Int {
        try await client.withConnection { connection in
            let plan = try connection.query(
                AccountHoldingsStore.ownedStatement(
                    by: account,
                    at: startOfTime,
                    limit: AccountHoldingsStore.ownedMax,
                    prefix: "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF)"
                )
            ).map { try $0.decode(String.self) }
            return try blocksRead(in: plan)
        }
    }

    @Test func whatHasEndedOrWasTakenAwayIsNotRead() async throws {
        try await withLongAccounts { client in
            let past = startOfTime.advanced(by: .seconds(-3600))
            let soon = startOfTime.advanced(by: .seconds(3600))
            try await client.withConnection { connection in
                // Of every thousand of ada's, one lasts, one ends later, and the others are over.
                try connection.execute(
                    """
                    INSERT INTO entitlements (account_id, bundle_id, product_id,
                        original_transaction_id, granted_at, revoked_at, ends_at)
                    SELECT CASE WHEN n > 50000 THEN 'ben' ELSE 'ada' END, \(appID),
                        'season.' || n % 3, n, \(past),
                        CASE WHEN n % 2 = 0 AND n % 1000 > 0 AND n <= 50000 THEN \(past) END,
                        CASE WHEN n % 1000 = 1 THEN \(soon)
                            WHEN n % 2 = 1 AND n <= 50000 THEN \(past) END
                    FROM generate_series(1, 50100) AS n
                    """
                )
                try connection.execute("ANALYZE entitlements")
            }
            let short = try await ownedBlocks(client, of: AccountID(unchecked: "ben"))
            let long = try await ownedBlocks(client)
            // Each of the hundred rows is in a block of its own. All rows are in more than 500.
            #expect(long <= short + 150, "\(long) blocks, not \(short)")
            let owned = try await client.withConnection { connection in
                try AccountHoldingsStore.owned(by: Self.ada, at: startOfTime, on: connection).owned
            }
            #expect(owned.count == 100)
            #expect(owned.count(where: { $0.endsAt == nil }) == 50)
        }
    }

    /// The number of 8 KB blocks that a page of the transactions behind what an account owns reads.
    private func givingBlocks(
        _ client: PostgresClient,
        of account: AccountID = ada
    ) async throws -> Int {
        try await client.withConnection { connection in
            // The sessions of the service have this setting.
            try connection.execute("SET enable_seqscan = off")
            let plan = try connection.query(
                QueueReadStore.entitlementsStatement(
                    in: QueueKey(accountID: account, bundleID: appID),
                    after: 0,
                    limit: HistoryRoutes.pageSize,
                    at: startOfTime,
                    prefix: "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF)"
                )
            ).map { try $0.decode(String.self) }
            return try blocksRead(in: plan)
        }
    }

    @Test func transactionsThatGaveWhatHasEndedAreNotRead() async throws {
        try await withLongAccounts { client in
            try await fill(client, "'ada'", "generate_series(1, 10)")
            try await fill(client, "'ben'", "generate_series(50001, 50010)")
            let past = startOfTime.advanced(by: .seconds(-3600))
            try await client.withConnection { connection in
                // All but the first ten of ada's are over or taken away.
                try connection.execute(
                    """
                    INSERT INTO entitlements (account_id, bundle_id, product_id,
                        original_transaction_id, granted_at, revoked_at, ends_at)
                    SELECT CASE WHEN n > 50000 THEN 'ben' ELSE 'ada' END, \(appID),
                        'season.' || n % 3, n, \(past),
                        CASE WHEN n % 2 = 0 AND n BETWEEN 11 AND 50000 THEN \(past) END,
                        CASE WHEN n % 2 = 1 AND n BETWEEN 11 AND 50000 THEN \(past) END
                    FROM generate_series(1, 50010) AS n
                    """
                )
                try connection.execute(
                    """
                    INSERT INTO queues (account_id, bundle_id, revision)
                    SELECT account, \(appID), 60000 FROM unnest('{ada,ben}'::text[]) AS account
                    """
                )
                try connection.execute(
                    "ANALYZE entitlements, queues, queue_transactions, subscriptions"
                )
            }
            let short = try await givingBlocks(client, of: AccountID(unchecked: "ben"))
            let long = try await givingBlocks(client)
            #expect(long <= short + 20, "\(long) blocks, not \(short)")
        }
    }

    /// The number of 8 KB blocks that the balances of an account read.
    private func balanceBlocks(
        _ client: PostgresClient,
        of account: AccountID = ada
    ) async throws -> Int {
        try await client.withConnection { connection in
            let plan = try connection.query(
                QueueReadStore.balancesStatement(
                    of: QueueKey(accountID: account, bundleID: appID),
                    prefix: "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF)"
                )
            ).map { try $0.decode(String.self) }
            return try blocksRead(in: plan)
        }
    }

    @Test func balancesOfManyEntriesReadNoMoreThanThoseOfAFew() async throws {
        try await withLongAccounts { client in
            try await client.withConnection { connection in
                try connection.execute(
                    """
                    INSERT INTO credit_entries (transaction_id, account_id, bundle_id, unit, kind,
                        number, amount, created_at)
                    SELECT n, CASE WHEN n > 100000 THEN 'ben' ELSE 'ada' END, \(appID), 'coins',
                        'grant', 0, 1, now()
                    FROM generate_series(1, 100010) AS n
                    """
                )
                try connection.execute("ANALYZE credit_entries, credit_balances")
            }
            let short = try await balanceBlocks(client, of: AccountID(unchecked: "ben"))
            let long = try await balanceBlocks(client)
            #expect(long <= short + 5, "\(long) blocks, not \(short)")
        }
    }
}
