import EventTypes
import Messaging
import Postgres
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// The books made again from the log of one service, without the others.
@Suite(.timeLimit(.minutes(2))) struct PaymentsRebuildTests {
    /// Owned, given up, owned anew: however the log is cut into batches, the owner is the same.
    @Test func theOwnerIsTheSameHoweverTheLogIsCutIntoBatches() async throws {
        try await withStore { store in
            for (number, endsRefunded) in [true, true, false].enumerated() {
                let film = try await store.buy(request("film"), key: "film-\(number)")
                try #require(film.state == .purchased)
                guard endsRefunded else { continue }
                guard case .owed(let refund, _) = try await store.admin.beginRefund(of: film.id)
                else { return #expect(Bool(false), "It was paid.") }
                await store.runner.carryOut([refund])
                await store.runner.drain()
            }
            try await store.buy(request("film"), key: "bob", of: bob)
            let log = try await store.client.withTransaction {
                try EventLog.rows(after: .start, limit: 1000, part: .visible, on: $0)
            }
            let owners = try await store.client.withConnection { try Self.owners(on: $0) }
            #expect(owners.count == 2)
            try await withTestDatabase(migrations: PaymentsMigrations.all) { shadow in
                try await shadow.withClient { client in
                    for first in 0...log.count {
                        for second in first...log.count {
                            let batches = [log[..<first], log[first..<second], log[second...]]
                            let rebuilt = try await client.withConnection {
                                try Self.owners(after: batches.map(Array.init), on: $0)
                            }
                            #expect(rebuilt == owners, "cut before \(first) and \(second)")
                        }
                    }
                }
            }
        }
    }

    /// Who owns what by a log, in tables that are empty before and after.
    private static func owners(
        after batches: [[OutboxRow]],
        on shadow: isolated PostgresConnection
    ) throws -> [String] {
        let handler = PaymentsRebuildHandler(consumer: "payments")
        let log = try #require(handler.sources.first)
        try shadow.execute("BEGIN")
        for batch in batches {
            let contradictions = try handler.apply(batch, of: log, on: shadow)
            #expect(contradictions == [])
        }
        let owners = try owners(on: shadow)
        try shadow.execute("ROLLBACK")
        return owners
    }

    private static func owners(on connection: isolated PostgresConnection) throws -> [String] {
        try connection.query(
            """
            SELECT concat_ws(' ', account_id, product_id, transaction_id, owned_at) FROM ownerships
            WHERE owned_at IS NOT NULL ORDER BY 1
            """
        ).map { try $0.decode(String.self) }
    }
}
