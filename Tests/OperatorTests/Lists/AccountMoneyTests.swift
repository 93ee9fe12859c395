import EventTypes
import Messaging
import Postgres
import TestSupport
import Testing

@testable import OperatorCore

/// The money of the purchases on a page, from the tables of `payments`.
@Suite(.timeLimit(.minutes(10)))
struct AccountMoneyTests {
    /// The columns that are read, as `payments` has them.
    private static let tables = PostgresMigration(
        name: "m0001_money",
        sql: """
            CREATE TABLE transactions (
                id bigint PRIMARY KEY, quantity integer, price bigint, currency text,
                requested_at timestamptz, purchased_at timestamptz, refunds json);
            CREATE TABLE ledger_postings (
                transaction_id bigint, currency text, accounts text[], amounts bigint[]);
            """
    )

    private static let time = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)

    private static func money(_ units: Int64, _ currency: String) -> Money {
        Money(minorUnits: units, currency: Currency(unchecked: currency))
    }

    @Test func postingsOfAPagesPurchasesAreAddedUp() async throws {
        try await withTestDatabase(
            migrations: MessagingMigrations.all(role: "counterfoil_payments") + [Self.tables]
        ) { database in
            try await database.withClient { client in
                let found = try await client.withConnection { connection in
                    _ = try connection.execute(
                        """
                        INSERT INTO transactions VALUES
                            (1, 3, 297, 'USD', \(Self.time), \(Self.time), '[
                                {"number": 1, "amount": {"currency": "USD", "minorUnits": 97},
                                "refundedAt": 1795237200000, "revokes": false},
                                {"number": 2, "amount": {"currency": "USD", "minorUnits": 50},
                                "refundedAt": 1795237200000, "revokes": false,
                                "reversedAt": 1795237200000}]'),
                            (2, 1, 500, 'JPY', \(Self.time), NULL, NULL),
                            (3, 1, 999, 'USD', \(Self.time), \(Self.time), NULL)
                        """
                    )
                    // The third purchase is on another page.
                    _ = try connection.execute(
                        """
                        INSERT INTO ledger_postings VALUES
                            (1, 'USD', '{buyer:ada,store_revenue}', '{-297,297}'),
                            (1, 'USD', '{buyer:ada,refunds}', '{97,-97}'),
                            (2, 'JPY', '{buyer:ada,store_revenue}', '{-500,500}'),
                            (3, 'USD', '{buyer:ada,store_revenue}', '{-999,999}')
                        """
                    )
                    return try AccountMoneyStore.money(
                        of: [TransactionID(number: 1), TransactionID(number: 2)],
                        on: connection
                    )
                }
                #expect(
                    found.sums == [
                        .init(account: "buyer:ada", amount: Self.money(-500, "JPY")),
                        .init(account: "store_revenue", amount: Self.money(500, "JPY")),
                        .init(account: "buyer:ada", amount: Self.money(-200, "USD")),
                        .init(account: "refunds", amount: Self.money(-97, "USD")),
                        .init(account: "store_revenue", amount: Self.money(297, "USD")),
                    ]
                )
                let first = found.purchases[TransactionID(number: 1)]
                #expect(first?.quantity == 3 && first?.price == Self.money(297, "USD"))
                #expect(first?.givenBack == Self.money(97, "USD"), "the second was reversed")
                #expect(found.purchases[TransactionID(number: 2)]?.time == Self.time)
                #expect(found.purchases.count == 2)
            }
        }
    }
}
