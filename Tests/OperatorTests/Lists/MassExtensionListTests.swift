import EventTypes
import Messaging
import Postgres
import TestSupport
import Testing

@testable import OperatorCore

/// The lists of requests to extend all subscribers of a product, and the count of these.
@Suite(.timeLimit(.minutes(10)))
struct MassExtensionListTests {
    private static let app = BundleID(unchecked: "com.example.app")
    private static let club = ProductID(unchecked: "club")

    /// The columns that the list reads, as `payments` has them.
    private static let tables = PostgresMigration(
        name: "m0001_mass_extensions",
        sql: """
            CREATE TABLE subscriptions (id bigint UNIQUE, bundle_id text, state text, data json);
            CREATE TABLE mass_extensions (number bigint PRIMARY KEY, product_id text, data json,
                act json, last_id bigint, looked_at_id bigint);
            """
    )

    private func withTables(
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> Void
    ) async throws {
        try await withTestDatabase(
            migrations: MessagingMigrations.all(role: "counterfoil_payments") + [Self.tables]
        ) { database in
            try await database.withClient { client in
                try await client.withTransaction { connection in try body(connection) }
            }
        }
    }

    private static func insert(
        _ number: Int64,
        of product: ProductID = club,
        lookedAt: Int64 = 0,
        isDone: Bool = false,
        on connection: isolated PostgresConnection
    ) throws {
        let time = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
        var request = MassExtension(
            number: number,
            bundleID: app,
            productID: product,
            requestIdentifier: "\(number)",
            days: 3,
            reasonCode: 3,
            acceptedAt: time
        )
        request.completedAt = isDone ? time : nil
        let act = Act(decidedBy: AdministratorName(unchecked: "maria"))
        try connection.execute(
            """
            INSERT INTO mass_extensions VALUES (\(number), \(product),
                \(try PostgresJSON(encoding: request)), \(try PostgresJSON(encoding: act)), 200,
                \(lookedAt))
            """
        )
    }

    @Test func theRequestsOfAProductAreListedWithTheirShare() async throws {
        try await withTables { connection in
            try connection.execute(
                "INSERT INTO subscriptions SELECT id FROM generate_series(100, 200) AS id"
            )
            try Self.insert(1, isDone: true, on: connection)
            try Self.insert(2, of: ProductID(unchecked: "other"), on: connection)
            try Self.insert(3, lookedAt: 150, on: connection)
            try Self.insert(4, on: connection)
            let found = try MassExtensionListStore.newest(of: Self.club, on: connection)
            #expect(found.map(\.request.number) == [4, 3, 1])
            #expect(found.map(\.share) == [0, 50, 100])
            #expect(found.allSatisfy { $0.act?.decidedBy.rawValue == "maria" })
            let newest = try MassExtensionListStore.newest(
                of: Self.club,
                limit: 1,
                on: connection
            )
            #expect(newest.map(\.request.number) == [4])
            let one = try MassExtensionListStore.request(3, of: Self.club, on: connection)
            #expect(one?.share == 50)
            #expect(try MassExtensionListStore.request(2, of: Self.club, on: connection) == nil)
        }
    }

    @Test func thoseWhoRunInTheAppAndItsStorefrontsAreCounted() async throws {
        try await withTables { connection in
            let others = [
                ("com.example.app", "active", "club", "USA"),
                ("com.example.app", "inGracePeriod", "club", "FRA"),
                ("com.example.app", "expired", "club", "USA"),
                ("com.example.app", "active", "levels", "USA"),
                ("com.example.other", "active", "club", "USA"),
            ]
            for (id, (bundle, state, product, place)) in others.enumerated() {
                let data = """
                    {"storefront":"\(place)","period":{"product":{"id":"\(product)"}}}
                    """
                try connection.execute(
                    """
                    INSERT INTO subscriptions VALUES (\(Int64(id)), \(bundle), \(state),
                        \(data)::json)
                    """
                )
            }
            // Places where no subscription has begun are not looked at: a first charge has failed.
            try connection.execute(
                """
                INSERT INTO subscriptions (bundle_id)
                SELECT 'com.example.app' FROM generate_series(1, 4)
                """
            )
            let france = [Storefront(unchecked: "FRA")]
            let all = try Self.count(nil, on: connection)
            #expect(all == BoundedCount(2))
            let one = try Self.count(france, on: connection)
            #expect(one == BoundedCount(1))
            let newest = try Self.count(nil, lookedAtMax: 4, on: connection)
            #expect(newest == BoundedCount(1, isAtLeast: true))
        }
    }

    private static func count(
        _ places: [Storefront]?,
        lookedAtMax: Int64 = 100,
        on connection: isolated PostgresConnection
    ) throws -> BoundedCount {
        try MassExtensionListStore.subscribers(
            of: club,
            in: app,
            places,
            lookedAtMax,
            on: connection
        )
    }
}
