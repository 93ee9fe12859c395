import EventTypes
import Messaging
import Postgres
import TestSupport
import Testing

@testable import OperatorCore

/// All purchases, page by page.
@Suite(.timeLimit(.minutes(10)))
struct PurchaseListTests {
    /// The columns that the list reads, as `payments` has them.
    private static let table = PostgresMigration(
        name: "m0001_purchases",
        sql: """
            CREATE TABLE transactions (
                id bigint PRIMARY KEY, account_id text, product_id text, quantity integer,
                price bigint, currency text, state text, failure_reason text,
                revoked_at timestamptz, requested_at timestamptz);
            """
    )

    @Test func aPageEndsWhereTheNextOneBegins() async throws {
        try await withTestDatabase(
            migrations: MessagingMigrations.all(role: "counterfoil_payments") + [Self.table]
        ) { database in
            try await database.withClient { client in
                let (first, last) = try await client.withConnection { connection in
                    _ = try connection.execute(
                        """
                        INSERT INTO transactions VALUES
                            (1, 'ada', 'coins', 1, 99, 'USD', 'purchased', NULL, NULL, now()),
                            (2, 'ben', 'coins', 2, 198, 'USD', 'purchased', NULL, now(), now()),
                            (3, 'ada', 'coins', 1, 99, 'USD', 'failed', 'paymentDeclined', NULL,
                                now())
                        """
                    )
                    let first = try PurchaseListStore.page(before: nil, limit: 2, on: connection)
                    let last = try PurchaseListStore.page(
                        before: first.purchases.last?.id,
                        limit: 2,
                        on: connection
                    )
                    return (first, last)
                }
                #expect(first.purchases.map(\.id.number) == [3, 2] && first.isCut)
                #expect(first.purchases.map(\.failureReason) == ["paymentDeclined", nil])
                #expect(first.purchases.map(\.isRevoked) == [false, true])
                #expect(first.purchases.map(\.quantity) == [1, 2])
                #expect(last.purchases.map(\.id.number) == [1] && !last.isCut)
            }
        }
    }
}
