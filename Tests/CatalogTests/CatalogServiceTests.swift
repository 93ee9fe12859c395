import ClockAndIDs
import EventTypes
import Foundation
import Kafka
import Logging
import Messaging
import NIOHTTP1
import Postgres
import ServiceFoundation
import ServiceKit
import StoreAPI
import Testing
import TestSupport

@testable import Catalog

@Suite(.timeLimit(.minutes(10))) struct CatalogServiceTests {
    @Test func aProductIsCreatedChangedAndTakenOffSale() async throws {
        try await withCatalog { catalog in
            let path = Routes.adminProduct(Builder.premium)
            #expect(try await catalog.admin(.GET, path).status == 404)

            let created = try await catalog.put()
            #expect(created.status == 201)
            #expect(created.headers.first(name: "Location") == path)
            #expect(created.headers.first(name: "ETag") == "\"1\"")
            #expect(try created.decode(Product.self) == Builder.product())
            // A write is visible in the next read.
            #expect(
                try await catalog.products("com.example.premium").products.map(\.version) == [1]
            )

            let changed = try await catalog.put(Builder.premium, Builder.draft(cents: 599))
            #expect(changed.status == 200)
            #expect(changed.headers.first(name: "ETag") == "\"2\"")
            let listing = try await catalog.products("com.example.premium").products.first
            #expect(listing?.price == Builder.money(599, "USD"))

            let unchanged = try await catalog.put(Builder.premium, Builder.draft(cents: 599))
            #expect(unchanged.status == 200)
            #expect(unchanged.headers.first(name: "ETag") == "\"2\"")

            let gone = try await catalog.admin(.DELETE, path)
            #expect(gone.status == 200)
            #expect(try gone.decode(Product.self).isOnSale == false)
            #expect(try await catalog.admin(.DELETE, path).status == 200)
            #expect(
                try await catalog.products("com.example.premium").invalidProductIDs
                    == ["com.example.premium"]
            )
            #expect(try await catalog.admin(.GET, path).decode(Product.self).version == 3)

            #expect(try await catalog.history() == [1, 2, 3])
            #expect(try await catalog.published() == [1, 2, 3])
        }
    }

    @Test func theHistoryTellsWhoAndWhen() async throws {
        try await withCatalog { catalog in
            let before = StoreTime.wallClock()
            try await catalog.put()
            let (who, when) = try await catalog.database.withClient { client in
                try await client.withConnection { connection in
                    let rows = try connection.query(
                        "SELECT changed_by, changed_at FROM product_versions"
                    )
                    return try rows[0].decode(String.self, StoreTime.self)
                }
            }
            #expect(who == StoreKeys.administrator)
            #expect(when >= before && when <= StoreTime.wallClock())
        }
    }

    @Test func theTypeAndTheIDStayForEver() async throws {
        try await withCatalog { catalog in
            try await catalog.put()
            _ = try await catalog.admin(.DELETE, Routes.adminProduct(Builder.premium))
            let otherType = try await catalog.put(Builder.premium, Builder.draft(.consumable))
            #expect(otherType.status == 409)
            #expect(try otherType.decode(Problem.self).code == "product_type_fixed")
            let again = try await catalog.put(headers: [("If-None-Match", "*")])
            #expect(again.status == 412)
            #expect(try await catalog.history() == [1, 2])
        }
    }

    @Test func ofTwoAdministratorsWhoReadTheSameOneIsRefused() async throws {
        try await withCatalog { catalog in
            try await catalog.put()
            let first = try await catalog.put(
                Builder.premium,
                Builder.draft(cents: 1),
                headers: [("If-Match", "\"1\"")]
            )
            let second = try await catalog.put(
                Builder.premium,
                Builder.draft(cents: 2),
                headers: [("If-Match", "\"1\"")]
            )
            #expect(first.status == 200 && second.status == 412)
            #expect(try second.decode(Problem.self).code == "precondition_failed")
            #expect(try await catalog.history() == [1, 2])
            let wrong = try await catalog.put(headers: [("If-Match", "1")])
            #expect(wrong.status == 400)
        }
    }

    @Test func concurrentChangesAreVersionsOneAfterTheOther() async throws {
        try await withCatalog { catalog in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for cents in 1...20 {
                    group.addTask {
                        try await catalog.put(Builder.premium, Builder.draft(cents: Int64(cents)))
                            .status
                    }
                }
                var statuses: [Int] = []
                for try await status in group { statuses.append(status) }
                #expect(statuses.sorted() == Array(repeating: 200, count: 19) + [201])
            }
            #expect(try await catalog.history() == Array(1...20))
            #expect(try await catalog.published() == Array(1...20))
            let product = try await catalog.admin(.GET, Routes.adminProduct(Builder.premium))
                .decode(Product.self)
            let listing = try await catalog.products("com.example.premium").products.first
            #expect(listing?.price == product.prices[Builder.usa])
        }
    }

    @Test func anUnchangedAnswerIsNotSentAgain() async throws {
        try await withCatalog { catalog in
            try await catalog.put()
            let path = Routes.products + "?ids=com.example.premium&storefront=USA"
            let first = try await catalog.send(.GET, path, token: catalog.accountToken)
            let tag = try #require(first.headers.first(name: "ETag"))
            let again = try await catalog.send(
                .GET,
                path,
                token: catalog.accountToken,
                headers: [("If-None-Match", tag)]
            )
            #expect(again.status == 304 && again.body.isEmpty)
            #expect(again.headers.first(name: "ETag") == tag)
            try await catalog.put(Builder.premium, Builder.draft(cents: 599))
            let changed = try await catalog.send(
                .GET,
                path,
                token: catalog.accountToken,
                headers: [("If-None-Match", tag)]
            )
            #expect(changed.status == 200)
            #expect(changed.headers.first(name: "ETag") != tag)
        }
    }

    @Test func aBuyerListsWhatIsOnSale() async throws {
        try await withCatalog { catalog in
            let path = Routes.products + "?storefront=USA"
            func listed(_ path: String, tag: String? = nil) async throws -> StoreResponse {
                try await catalog.send(
                    .GET,
                    path,
                    token: catalog.accountToken,
                    headers: tag.map { [("If-None-Match", $0)] } ?? []
                )
            }
            let empty = try await listed(path)
            #expect(try empty.decode(ProductsResponse.self).products.isEmpty)
            let products = (0...CatalogRoutes.pageSize).map { number in
                #""p\#(1000 + number)": \#(Builder.json())"#
            }
            let document = #"{"products": {\#(products.joined(separator: ","))}}"#
            #expect(try await catalog.admin(.PUT, Routes.adminCatalog, document).status == 200)
            let first = try await listed(path)
            let page = try first.decode(ProductsResponse.self)
            #expect(page.products.count == CatalogRoutes.pageSize && page.next?.rawValue == "p1199")
            let last = try await listed(path + "&after=p1199").decode(ProductsResponse.self)
            #expect(last.products.map(\.id.rawValue) == ["p1200"] && last.next == nil)
            let tag = try #require(first.headers.first(name: "ETag"))
            #expect(try await listed(path, tag: tag).status == 304)
            #expect(try await listed(path + "&after=p1199", tag: tag).status == 200)
            #expect(try await catalog.send(.GET, path, token: nil).status == 401)
        }
    }

    @Test func anotherReplicaHearsOfAChange() async throws {
        try await withCatalog { catalog in
            try await withReplica(of: catalog.database, keys: catalog.keys) { other in
                try await waitUntilLoaded(other)
                for cents in [499, 599] as [Int64] {
                    try await catalog.put(Builder.premium, Builder.draft(cents: cents))
                    try await eventually("the other replica to show \(cents)") {
                        let products = try await other.products("com.example.premium").products
                        return products.first?.price.minorUnits == cents ? true : nil
                    }
                }
            }
        }
    }

    @Test func theServiceCannotRewriteHistory() async throws {
        try await withCatalog { catalog in
            try await catalog.put()
            try await catalog.database.withClient(role: "counterfoil_catalog") { client in
                let statements: [SQL] = [
                    "UPDATE product_versions SET version = 9", "DELETE FROM product_versions",
                    "DELETE FROM products", "UPDATE products SET type = 'consumable'",
                    "UPDATE products SET id = 'other'", "DELETE FROM outbox",
                    "UPDATE outbox SET key = 'other'", "TRUNCATE products CASCADE",
                    "CREATE TABLE mine (id text)",
                ]
                for statement in statements {
                    let error = await #expect(throws: PostgresError.self) {
                        try await client.withConnection { try $0.execute(statement) }
                    }
                    #expect(error?.code == .insufficientPrivilege)
                }
            }
        }
    }

    @Test func untilTheDatabaseIsMigratedNothingIsAnsweredAsEmpty() async throws {
        try await withCatalog(isMigrated: false) { catalog in
            let path = Routes.products + "?ids=a&storefront=USA"
            let early = try await catalog.send(.GET, path, token: catalog.accountToken)
            #expect(early.status == 503)
            #expect(early.headers.first(name: "Retry-After") != nil)
            #expect(try await catalog.put().status == 503)
            let ready = try await catalog.send(.GET, "/health/ready", token: nil)
            #expect(ready.status == 503)
            #expect(try ready.decode(Problem.self).detail.contains("migrations"))
            var reader = SettingsReader(environment: [
                "MIGRATION_DATABASE_URL": catalog.database.url
            ])
            let quiet = Logger(label: "migrate") { _ in SwiftLogNoOpLogHandler() }
            try await ServiceDefinition.catalog.migrate(&reader, quiet)()
            try await waitUntilLoaded(catalog)
        }
    }

    @Test func aWrongClockIsNotReadyUntilItIsSet() async throws {
        try await withCatalog { catalog in
            let clock = MachineClock(ahead: -3600)
            try await withReplica(
                of: catalog.database,
                keys: catalog.keys,
                machineClock: clock.now
            ) { replica in
                func problem() async throws -> String {
                    let answer = try await replica.send(.GET, "/health/ready", token: nil)
                    #expect(answer.status == 503)
                    return try answer.decode(Problem.self).detail
                }
                try await waitUntilLoaded(replica)
                let wrong = try await problem()
                #expect(wrong.contains("clock (this machine's clock is 3600 s behind"))
                clock.set(ahead: 0)
                // The broker stays unavailable in this test.
                let healed = try await problem()
                #expect(healed == "Waiting for: topics, store clock.")
            }
        }
    }

    @Test func aChangeReachesTheTopicAsAWholeProduct() async throws {
        try await withTestBroker { broker in
            let quiet = Logger(label: "consumer") { _ in SwiftLogNoOpLogHandler() }
            // payments makes this topic, and every service waits for it.
            let admin = try KafkaAdmin(settings: broker.settings(), logger: quiet)
            let clock = KafkaTopicDefinition(
                name: Topics.storeClock.name,
                partitions: 1,
                replicationFactor: 1
            )
            _ = try await admin.createTopics([clock])
            await admin.close()
            try await withCatalog(
                kafka: broker.bootstrapServers,
                kafkaProperties: TestBroker.properties
            ) { catalog in
                try await eventually("the catalog to be ready") {
                    try await catalog.send(.GET, "/health/ready", token: nil).status == 200
                        ? true : nil
                }
                let consumer = try KafkaConsumer(
                    settings: broker.settings(),
                    group: "catalog-tests",
                    topics: [Topics.catalogProducts.name],
                    logger: quiet
                )
                try await catalog.put()
                try await catalog.put(Builder.premium, Builder.draft(cents: 599))
                var messages: [KafkaMessage] = []
                try await eventually("both events") {
                    messages += try await consumer.poll(max: 10, timeout: .milliseconds(200))
                        .messages
                    return messages.count >= 2 ? true : nil
                }
                await consumer.close()
                #expect(
                    messages.map { String(decoding: $0.key ?? [], as: UTF8.self) }
                        == ["com.example.premium", "com.example.premium"]
                )
                let products = try messages.map {
                    try EventCoding.decode(ProductChanged.self, from: $0.value ?? []).product
                }
                #expect(products.map(\.version) == [1, 2])
                #expect(products.last?.prices[Builder.usa] == Builder.money(599, "USD"))
            }
        }
    }

    @Test func theReasonOfAChangeIsInItsEvent() async throws {
        try await withCatalog { catalog in
            var draft = Builder.draft()
            draft.reason = ActReason(rawValue: "It is new.")
            try await catalog.put(Builder.premium, draft)
            // The same product for another reason changes nothing.
            draft.reason = ActReason(rawValue: "Once more.")
            try await catalog.put(Builder.premium, draft)
            try await catalog.put(Builder.premium, Builder.draft(cents: 599))
            let changes = try await catalog.changes()
            #expect(changes.map(\.product.version) == [1, 2])
            #expect(changes.map(\.reason) == [ActReason(rawValue: "It is new."), nil])
        }
    }

    @Test func allProblemsOfTheSettingsAreReportedAtOnce() throws {
        var reader = SettingsReader(environment: [
            "HTTP_PORT": "eighty", "CATALOG_IMPORT_BYTES_MAX": "1",
        ])
        let quiet = Logger(label: "catalog") { _ in SwiftLogNoOpLogHandler() }
        #expect(throws: (any Error).self) { _ = try composeCatalog(&reader, quiet) }
        #expect(
            Set(reader.problems.map(\.key)).isSuperset(of: [
                "HTTP_PORT", "CATALOG_IMPORT_BYTES_MAX", "DATABASE_URL",
                "KAFKA_BOOTSTRAP_SERVERS", "APP_KEYS_DIRECTORY", "ADMIN_KEYS_DIRECTORY",
            ])
        )
    }
}
