import EventTypes
import Messaging
import Postgres
import TestSupport
import Testing

@testable import OperatorCore

/// The purchases of an account, page by page.
@Suite(.timeLimit(.minutes(10)))
struct AccountPurchasesTests {
    /// The columns that the list reads, as `fulfillment` has them.
    private static let table = PostgresMigration(
        name: "m0001_queue",
        sql: """
            CREATE TABLE queue_transactions (
                transaction_id bigint PRIMARY KEY, account_id text, bundle_id text, state text,
                revoked_at timestamptz, transaction bytea, is_delivered boolean,
                finished_at timestamptz, changed_at timestamptz);
            """
    )

    @Test func aPageEndsWhereTheNextOneBegins() async throws {
        try await withTestDatabase(
            migrations: MessagingMigrations.all(role: "counterfoil_fulfillment") + [Self.table]
        ) { database in
            try await database.withClient { client in
                let pages = try await client.withConnection { connection in
                    // Every other one is finished; the last one is of somebody else.
                    _ = try connection.execute(
                        """
                        INSERT INTO queue_transactions
                        SELECT n, CASE n WHEN 6 THEN 'eve' ELSE 'ada' END, 'app', 'purchased', NULL,
                            '{"productID":"coins"}', true, CASE n % 2 WHEN 0 THEN now() END, now()
                        FROM generate_series(1, 6) AS n
                        """
                    )
                    var pages: [[Int64]] = []
                    var last: TransactionID?
                    for _ in 1...4 {
                        let page = try StoryMarksStore.purchases(
                            of: AccountID(unchecked: "ada"),
                            before: last,
                            limit: 2,
                            on: connection
                        )
                        pages.append(page.map(\.transactionID.number))
                        last = page.last?.transactionID ?? last
                    }
                    return pages
                }
                #expect(pages == [[5, 4], [3, 2], [1], []])
            }
        }
    }
}
