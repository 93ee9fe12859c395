import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import Testing
import TestSupport

@testable import Catalog

@Suite(.timeLimit(.minutes(10))) struct SubscriptionProductTests {
    @Test func aSubscriptionKeepsItsGroupAndItsPeriod() async throws {
        try await withCatalog { catalog in
            let created = try await catalog.put(Builder.premium, Builder.subscription())
            #expect(created.status == 201)
            let terms = Builder.subscription().subscription
            let listing = try await catalog.products("com.example.premium").products.first
            #expect(listing?.subscription == terms)

            let moved = try await catalog.put(
                Builder.premium,
                Builder.subscription(group: "news")
            )
            #expect(moved.status == 409)
            #expect(try moved.decode(Problem.self).code == "subscription_group_fixed")
            let yearly = Builder.subscription(period: SubscriptionPeriod(1, .year))
            let longer = try await catalog.put(Builder.premium, yearly)
            #expect(longer.status == 409)
            #expect(try longer.decode(Problem.self).code == "subscription_period_fixed")

            let document = CatalogDocument(products: [Builder.premium: yearly])
            let json = String(decoding: try JSONEncoder().encode(document), as: UTF8.self)
            let imported = try await catalog.admin(.PUT, Routes.adminCatalog, json)
            #expect(imported.status == 409)
            #expect(
                try imported.decode(Problem.self).detail.contains(
                    "com.example.premium: subscription.period is P1Y, but the product's periods "
                        + "are P1M and stay so"
                )
            )
            let exported = try await catalog.admin(.GET, Routes.adminCatalog)
                .decode(CatalogDocument.self)
            #expect(exported.products[Builder.premium]?.subscription == terms)
            #expect(try await catalog.history() == [1])
        }
    }
}
