import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import TestSupport
import Testing

@testable import Catalog

/// The whole catalog as a document: exported, imported, or refused.
@Suite(.timeLimit(.minutes(10)))
struct CatalogImportTests {
    @Test func anImportIsAllOrNothing() async throws {
        try await withCatalog { catalog in
            let good = Builder.json()
            let other = Builder.json(replacing: ["type": #""consumable""#])
            try await catalog.put(Builder.coins)

            let first = try await catalog.admin(
                .PUT,
                Routes.adminCatalog,
                #"{"products": {"a": \#(good), "b": \#(other)}}"#
            )
            #expect(
                try first.decode(CatalogImportResult.self)
                    == CatalogImportResult(created: 2, changed: 0, unchanged: 0)
            )

            let bad = Builder.json(replacing: ["prices": "{}", "type": "1"])
            let invalid = try await catalog.admin(
                .PUT,
                Routes.adminCatalog,
                #"{"products": {"c": \#(good), "d": \#(bad), "e": \#(bad)}}"#
            )
            #expect(invalid.status == 422)
            let problem = try invalid.decode(Problem.self)
            #expect(problem.code == "catalog_invalid")
            #expect(problem.detail.split(separator: "\n").count == 4)
            #expect(problem.detail.contains("d: prices must hold at least one price."))
            #expect(problem.detail.contains("e: type is a whole number, not a text."))

            let conflict = try await catalog.admin(
                .PUT,
                Routes.adminCatalog,
                #"{"products": {"a": \#(other), "c": \#(good)}}"#
            )
            #expect(conflict.status == 409)
            #expect(
                try conflict.decode(Problem.self).detail
                    == "a: type is consumable, but the product is a nonConsumable and stays one."
            )

            let document = try await catalog.admin(.GET, Routes.adminCatalog)
                .decode(CatalogDocument.self)
            #expect(
                document.products.keys.map(\.rawValue).sorted() == [
                    "a", "b", "com.example.coins.100",
                ]
            )
            #expect(try await catalog.published(of: ProductID(unchecked: "c")).isEmpty)
        }
    }

    @Test func anImportOfAnOlderCatalogOverwritesNothing() async throws {
        try await withCatalog { catalog in
            try await catalog.put(Builder.coins)
            let export = try await catalog.admin(.GET, Routes.adminCatalog)
            let tag = try #require(export.headers.first(name: "ETag"))
            try await catalog.put(Builder.premium, Builder.draft(cents: 499))
            let late = try await catalog.admin(
                .PUT,
                Routes.adminCatalog,
                #"{"products": {"com.example.premium": \#(Builder.json())}}"#,
                headers: [("If-Match", tag)]
            )
            #expect(late.status == 412)
            let problem = try late.decode(Problem.self)
            #expect(problem.code == "precondition_failed")
            #expect(problem.detail == "It is at version 2. Read it again, then repeat the change.")
            #expect(try await catalog.history() == [1])

            let now = try await catalog.admin(.GET, Routes.adminCatalog)
            let present = try #require(now.headers.first(name: "ETag"))
            let timely = try await catalog.admin(
                .PUT,
                Routes.adminCatalog,
                now.text,
                headers: [("If-Match", present)]
            )
            #expect(try timely.decode(CatalogImportResult.self).unchanged == 2)
        }
    }

    @Test func anExportCanBeImportedAndChangesNothing() async throws {
        try await withCatalog { catalog in
            let file = SourceTree.path(SampleCatalog.path)
            let sample = try String(contentsOfFile: file, encoding: .utf8)
            let first = try await catalog.admin(.PUT, Routes.adminCatalog, sample)
                .decode(CatalogImportResult.self)
            #expect(first.created > 4 && first.changed == 0)
            let export = try await catalog.admin(.GET, Routes.adminCatalog).text
            let again = try await catalog.admin(.PUT, Routes.adminCatalog, export)
                .decode(CatalogImportResult.self)
            #expect(again == CatalogImportResult(created: 0, changed: 0, unchanged: first.created))
        }
    }
}
