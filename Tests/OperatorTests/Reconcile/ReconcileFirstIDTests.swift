import EventTypes
import Messaging
import Postgres
import Testing
import TestSupport

@testable import Operator
@testable import OperatorCore

/// The id with which a comparison of the transactions since a moment begins.
@Suite(.timeLimit(.minutes(10)))
struct ReconcileFirstIDTests {
    private static let noon = StoreTime(millisecondsSinceEpoch: 1_800_000_000_000)

    /// Asks for the first id since some minutes after noon, among transactions requested at minutes.
    private func firstIDs(
        since minutes: [Int],
        among transactions: [(id: Int64, minute: Int)]
    ) async throws -> [Int64?] {
        try await withTestDatabase { database in
            try await database.withClient { client in
                try await client.withConnection { connection in
                    try connection.execute(
                        """
                        CREATE TABLE transactions (
                            id bigint PRIMARY KEY, requested_at timestamptz NOT NULL
                        )
                        """
                    )
                    for (id, minute) in transactions {
                        let time = Self.noon.advanced(by: .seconds(60 * minute))
                        try connection.execute("INSERT INTO transactions VALUES (\(id), \(time))")
                    }
                    var found: [Int64?] = []
                    for minute in minutes {
                        let time = Self.noon.advanced(by: .seconds(60 * minute))
                        found.append(try ReconcileStore.firstID(since: time, on: connection))
                    }
                    return found
                }
            }
        }
    }

    @Test func theFirstIsTheOldestThatIsNotOlder() async throws {
        let found = try await firstIDs(
            since: [-1, 1, 2],
            among: [(id: 10, minute: 0), (id: 11, minute: 1), (id: 50, minute: 3)]
        )
        // Between two ids every one will do: there is no transaction.
        #expect(found[0] == 10)
        #expect(found[1] == 11)
        #expect((12...50).contains(found[2] ?? 0))
    }

    @Test func theNewestIsNotTakenIfItIsOlder() async throws {
        #expect(try await firstIDs(since: [1], among: [(id: 10, minute: 0)]) == [11])
        #expect(
            try await firstIDs(since: [9], among: [(id: 10, minute: 0), (id: 11, minute: 1)])
                == [12]
        )
    }

    @Test func withoutTransactionsThereIsNone() async throws {
        #expect(try await firstIDs(since: [0], among: []) == [nil])
    }
}
