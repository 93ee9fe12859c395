import EventTypes
import Messaging
import Postgres
import TestSupport
import Testing

@testable import OperatorCore

/// The lists of dead letters, and what operators decide about them.
@Suite(.timeLimit(.minutes(10)))
struct OpenLettersTests {
    private func withLetters(
        _ body: @escaping @Sendable (PostgresClient) async throws -> Void
    ) async throws {
        try await withDatabase { database in
            try await database.withClient(role: PostgresCluster.operatorRole, body)
        }
    }

    private func withDatabase(
        _ body: @escaping @Sendable (TestDatabase) async throws -> Void
    ) async throws {
        try await withTestDatabase(
            migrations: MessagingMigrations.all(role: "counterfoil_receipts")
        ) { database in
            try await database.withClient { client in
                try await client.withConnection { connection in
                    _ = try connection.execute(
                        """
                        INSERT INTO dead_letters (consumer, event_id, topic, partition, "offset", key,
                            type, subject, time, data, reason, state, settled_at)
                        SELECT 'receipts', gen_random_uuid(), 't', 0, number, key, 'e', 's', now(), '',
                            'a test', state, CASE WHEN state = 'redriven' THEN now() END
                        FROM (VALUES (1, 'eve', 'parked'), (2, 'ada', 'parked'), (3, 'ada', 'dead'),
                            (4, 'zoe', 'redriven'), (5, 'Ümit', 'dead')) AS l (number, key, state)
                        ORDER BY number
                        """
                    )
                }
            }
            try await body(database)
        }
    }

    @Test func openLettersAreCountedByKeyInPages() async throws {
        try await withLetters { client in
            let (all, rest) = try await client.withConnection { connection in
                (
                    try DeadLetterStore.openLetters(after: "", limit: 10, on: connection),
                    try DeadLetterStore.openLetters(after: "ada", limit: 1, on: connection)
                )
            }
            #expect(all.map(\.key) == ["ada", "eve", "Ümit"])
            #expect(all.map(\.dead) == [1, 0, 1] && all.map(\.parked) == [1, 1, 0])
            #expect(rest.map(\.key) == ["eve"])
        }
    }

    @Test func lettersOfOneStateAreRead() async throws {
        try await withLetters { client in
            let states = try await client.withConnection { connection in
                try ["dead", "parked", ""].map {
                    try DeadLetterStore.letters(.init(key: "ada", state: $0), on: connection)
                        .map(\.state)
                }
            }
            #expect(states == [["dead"], ["parked"], ["parked", "dead"]])
        }
    }

    @Test func actsOnLettersOfOneMomentAreInDistinctPages() async throws {
        try await withLetters { client in
            let act = Act(
                decidedBy: AdministratorName(unchecked: "mia"),
                reason: ActReason(rawValue: "fixed")
            )
            let found = try await client.withTransaction { connection in
                // All letters of a key get one time.
                try DeadLetters.requestRedrive(
                    key: "ada",
                    consumer: "receipts",
                    by: act,
                    on: connection
                )
                _ = try DeadLetterStore.discard(1, by: act, on: connection)
                var found: [RecordedAct.Subject] = []
                var before: String?
                while true {
                    let query = ActQuery(kind: .deadLetters, before: before, limit: 1)
                    let page = try ActStore.aboutDeadLetters(of: .receipts, query, on: connection)
                    guard let first = page.first else { return found }
                    found.append(first.act.subject)
                    before = first.act.place
                }
            }
            #expect(found == [3, 2, 1].map { .deadLetter(.receipts, $0) })
        }
    }

    @Test func allKeysAreAskedForInPages() async throws {
        try await withDatabase { database in
            let url = database.url(role: PostgresCluster.operatorRole)
            let runner = RedriveRunner(databases: DatabaseAddresses(urls: [.receipts: url], [:]))
            let act = Act(decidedBy: AdministratorName(unchecked: "mia"))
            for pageMax in [1, 2, 3, 500] {
                let redrives = try await runner.ask(.receipts, key: nil, pageMax: pageMax, by: act)
                #expect(redrives.map(\.key) == ["ada", "eve", "Ümit"])
                #expect(redrives.map(\.asked) == [2, 1, 1])
            }
        }
    }

    @Test func actsOnLettersAreReadByTheirIndexAlone() async throws {
        try await withLetters { client in
            let plans = try await client.withConnection { connection in
                try connection.execute("SET enable_seqscan = off")
                try connection.execute("SET enable_sort = off")
                return try [
                    """
                    EXPLAIN SELECT id FROM dead_letters WHERE act IS NOT NULL
                    ORDER BY coalesce(settled_at, redrive_requested_at, recorded_at) DESC, id DESC
                    LIMIT 51
                    """,
                    """
                    EXPLAIN SELECT DISTINCT key COLLATE "C" FROM dead_letters
                    WHERE state IN ('dead', 'parked') AND key COLLATE "C" > 'ada'
                    ORDER BY key COLLATE "C" LIMIT 500
                    """,
                    "EXPLAIN SELECT state FROM dead_letters WHERE state = 'dead' LIMIT 10000",
                ].map { sql in
                    try connection.query("\(unsafe: sql)").map { try $0.decode(String.self) }
                        .joined(separator: "\n")
                }
            }
            #expect(plans[0].contains("dead_letters_decided"), "\(plans[0])")
            #expect(plans[1].contains("dead_letters_open_by_key"), "\(plans[1])")
            #expect(plans[2].contains("dead_letters_open_by_state"), "\(plans[2])")
        }
    }
}
