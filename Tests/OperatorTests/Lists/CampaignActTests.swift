import EventTypes
import Messaging
import Postgres
import TestSupport
import Testing

@testable import OperatorCore

/// Who made offer codes and who deactivated them, from the table of campaigns.
@Suite(.timeLimit(.minutes(10)))
struct CampaignActTests {
    /// The columns that the list reads, as `payments` has them.
    private static let table = PostgresMigration(
        name: "m0001_campaigns",
        sql: """
            CREATE TABLE code_campaigns (
                id bigint PRIMARY KEY, product_id text, offer_id text, created_at timestamptz,
                creation_act json, deactivated_at timestamptz, deactivation_act json);
            """
    )

    private func acts(_ queries: [ActQuery]) async throws -> [[RecordedAct]] {
        try await withTestDatabase(
            migrations: MessagingMigrations.all(role: "counterfoil_payments") + [Self.table]
        ) { database in
            try await database.withClient { client in
                try await client.withTransaction { connection in
                    _ = try connection.execute(
                        """
                        INSERT INTO code_campaigns VALUES
                            (1, 'club', 'spring', '2026-01-01T00:00Z', '{"decidedBy":"mia"}',
                                '2026-01-03T00:00Z', '{"decidedBy":"max","reason":"leaked"}'),
                            (2, 'plus', 'spring', '2026-01-03T00:00Z', '{"decidedBy":"mia"}',
                                NULL, NULL)
                        """
                    )
                    var found: [[RecordedAct]] = []
                    for query in queries {
                        found.append(try CampaignActStore.acts(query, on: connection))
                    }
                    return found
                }
            }
        }
    }

    @Test func aCampaignIsMadeAndDeactivatedByAnAct() async throws {
        let all = try await acts([ActQuery(kind: .codes)])[0]
        #expect(
            all.map(\.words) == [
                "deactivated the codes of spring of club", "made codes of spring of plus",
                "made codes of spring of club",
            ]
        )
        #expect(all.map(\.subject) == [.campaign(1), .campaign(2), .campaign(1)])
        #expect(all.first.map { "\($0.act)" } == "by max: leaked")
    }

    @Test func actsAboutCodesAreChosenAndPaged() async throws {
        let all = try await acts([ActQuery(kind: .codes)])[0]
        let found = try await acts([
            ActQuery(kind: .codes, administrator: "mia"), ActQuery(kind: .codes, key: "club"),
            ActQuery(kind: .codes, before: all[0].place),
            ActQuery(kind: .codes, before: all[2].place),
        ])
        #expect(
            found.map { $0.map(\.place) } == [
                [all[1].place, all[2].place], [all[0].place, all[2].place],
                [all[1].place, all[2].place], [],
            ]
        )
    }

    @Test func everyPageGoesOnWhereTheOneBeforeEnded() async throws {
        let all = try await acts([ActQuery(kind: .codes)])[0].map(\.place)
        var paged: [String] = []
        while let page = try await acts([
            ActQuery(kind: .codes, before: paged.last, limit: 1)
        ]).first, let next = page.first {
            paged.append(next.place)
        }
        #expect(paged == all)
    }
}
