import ArgumentParser
import EventTypes
import Postgres
import TestSupport
import Testing

@testable import Operator
@testable import OperatorCore

/// The moment that `reconcile --since` means.
@Suite(.timeLimit(.minutes(10)))
struct ReconcileSinceTests {
    private static let present = StoreTime(millisecondsSinceEpoch: 4_000_000_000_000)

    @Test func aSpanCountsBackFromTheStoresPresent() async throws {
        try await withTestDatabase { database in
            let clock = try PostgresJSON(encoding: StoreClock.frozen(at: Self.present))
            try await database.withClient { client in
                try await client.withConnection { connection in
                    // The columns that are read, as `payments` has them.
                    try connection.execute(
                        "CREATE TABLE store_clock (step bigint, clock json, latest timestamptz)"
                    )
                    try connection.execute(
                        "INSERT INTO store_clock VALUES (1, \(clock), \(Self.present))"
                    )
                }
            }
            let command = try ReconcileCommand.parse([
                "--since", "24h", "--payments-database-url", database.url,
            ])
            #expect(try await command.begin() == Self.present.advanced(by: .seconds(-86_400)))
        }
    }

    @Test func aTimeIsTakenAsItIs() async throws {
        let command = try ReconcileCommand.parse(["--since", "2026-11-21T00:00:00Z"])
        #expect(try await command.begin() == StoreTime("2026-11-21T00:00:00Z"))
        #expect(try await ReconcileCommand.parse([]).begin() == nil)
    }
}
