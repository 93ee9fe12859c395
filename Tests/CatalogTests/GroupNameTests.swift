import EventTypes
import Foundation
import Messaging
import NIOHTTP1
import Postgres
import Seals
import StoreAPI
import TestSupport
import Testing

@testable import Catalog

/// The names of subscription groups, from an import to the answer that buyers get.
@Suite(.timeLimit(.minutes(10))) struct GroupNameTests {
    private static let club = SubscriptionGroupID(unchecked: "club")

    private static func names(_ english: String) -> [SubscriptionGroupID: SubscriptionGroupDraft] {
        [
            club: SubscriptionGroupDraft(localizations: [
                Builder.en: SubscriptionGroupText(name: english),
                LanguageTag(unchecked: "fr"): SubscriptionGroupText(name: "Le club"),
            ])
        ]
    }

    private static func put(
        _ groups: [SubscriptionGroupID: SubscriptionGroupDraft],
        products: [ProductID: ProductDraft] = [:],
        to catalog: CatalogUnderTest
    ) async throws -> StoreResponse {
        let document = CatalogDocument(products: products, subscriptionGroups: groups)
        let json = String(decoding: try JSONEncoder().encode(document), as: UTF8.self)
        return try await catalog.admin(.PUT, Routes.adminCatalog, json)
    }

    /// The name of the club as a buyer sees it with a product.
    private static func name(
        in language: String,
        of catalog: CatalogUnderTest
    ) async throws -> String? {
        try await catalog.products(Builder.premium.rawValue, language: language)
            .products.first?.subscriptionGroupName
    }

    /// The versions of the club's names in the table of versions.
    private static func history(of catalog: CatalogUnderTest) async throws -> [Int] {
        try await catalog.database.withClient { client in
            try await client.withConnection { connection in
                try connection.query(
                    """
                    SELECT version FROM subscription_group_versions
                    WHERE group_id = \(club) ORDER BY version
                    """
                ).map { try $0.decode(Int.self) }
            }
        }
    }

    /// The events of the club in the outbox, in the order of publication.
    private static func published(by catalog: CatalogUnderTest) async throws -> [OutboxEvent] {
        try await catalog.database.withClient { client in
            try await client.withConnection { connection in
                try EventLog.rows(
                    after: .start,
                    limit: 100,
                    part: .visible,
                    types: [.subscriptionGroupChanged],
                    on: connection
                ).map(\.event)
            }
        }
    }

    @Test func anImportNamesAGroupOnceForEachChange() async throws {
        try await withCatalog { catalog in
            let products = [Builder.premium: Builder.subscription()]
            let first = try await Self.put(Self.names("Club"), products: products, to: catalog)
            #expect(
                try first.decode(CatalogImportResult.self)
                    == CatalogImportResult(created: 2, changed: 0, unchanged: 0)
            )
            #expect(try await Self.name(in: "en-US", of: catalog) == "Club")
            #expect(try await Self.name(in: "fr", of: catalog) == "Le club")

            let again = try await Self.put(Self.names("Club"), to: catalog)
            #expect(try again.decode(CatalogImportResult.self).unchanged == 1)
            let second = try await Self.put(Self.names("The club"), to: catalog)
            #expect(try second.decode(CatalogImportResult.self).changed == 1)
            #expect(try await Self.name(in: "en-US", of: catalog) == "The club")

            #expect(try await Self.history(of: catalog) == [1, 2])
            let events = try await Self.published(by: catalog)
            #expect(Set(events.map(\.key)) == ["group:club"])
            #expect(
                try events.map {
                    try EventCoding.decode(SubscriptionGroupChanged.self, from: $0.data).group
                        .version
                } == [1, 2]
            )
        }
    }

    @Test func aGroupWithoutAProductRefusesTheWholeImport() async throws {
        try await withCatalog { catalog in
            let products = [Builder.premium: Builder.subscription(group: "news")]
            let refused = try await Self.put(Self.names("Club"), products: products, to: catalog)
            #expect(refused.status == 409)
            #expect(try refused.decode(Problem.self).detail == "group club has no product.")
            #expect(try await catalog.history() == [])
            #expect(try await Self.published(by: catalog).isEmpty)
        }
    }

    @Test func aNameMakesTheCatalogNewerAndIsExported() async throws {
        try await withCatalog { catalog in
            try await catalog.put(Builder.premium, Builder.subscription())
            let before = try await catalog.admin(.GET, Routes.adminCatalog)
            #expect(try before.decode(CatalogDocument.self).subscriptionGroups == nil)
            _ = try await Self.put(Self.names("Club"), to: catalog)
            let tag = try #require(before.headers.first(name: "ETag"))
            let late = try await catalog.admin(
                .PUT,
                Routes.adminCatalog,
                before.text,
                headers: [("If-Match", tag)]
            )
            #expect(late.status == 412)
            let export = try await catalog.admin(.GET, Routes.adminCatalog)
            #expect(
                try export.decode(CatalogDocument.self).subscriptionGroups == Self.names("Club")
            )
            let timely = try await catalog.admin(
                .PUT,
                Routes.adminCatalog,
                export.text,
                headers: [("If-Match", try #require(export.headers.first(name: "ETag")))]
            )
            #expect(try timely.decode(CatalogImportResult.self).unchanged == 2)
        }
    }

    @Test func anotherReplicaTellsTheNewNameToo() async throws {
        try await withCatalog { catalog in
            try await catalog.put(Builder.premium, Builder.subscription())
            try await withReplica(of: catalog.database, keys: catalog.keys) { replica in
                try await waitUntilLoaded(replica)
                #expect(try await Self.name(in: "en-US", of: replica) == nil)
                _ = try await Self.put(Self.names("Club"), to: catalog)
                try await eventually("the replica to read the name") {
                    try await Self.name(in: "en-US", of: replica) == "Club" ? true : nil
                }
            }
        }
    }

    @Test func aRebuildMakesTheNamesAgain() async throws {
        try await withCatalog { catalog in
            let products = [Builder.premium: Builder.subscription()]
            _ = try await Self.put(Self.names("Club"), products: products, to: catalog)
            _ = try await Self.put(Self.names("The club"), to: catalog)
            let rows = try await catalog.database.withClient { client in
                try await client.withConnection { connection in
                    try EventLog.rows(after: .start, limit: 100, part: .visible, on: connection)
                }
            }
            try await withTestDatabase(migrations: CatalogMigrations.all) { shadow in
                try await shadow.withClient { client in
                    try await client.withConnection { connection in
                        let handler = CatalogRebuildHandler()
                        #expect(try handler.apply(rows, on: connection).isEmpty)
                        let group = try GroupStore.allGroups(on: connection)
                        #expect(group.map(\.version) == [2])
                        // The same rows again do not follow what is there.
                        #expect(try handler.apply(rows, on: connection).count == rows.count)
                    }
                }
            }
        }
    }
}
