import ClockAndIDs
import EventTypes
import Messaging
import Postgres
import Testing
import TestSupport

@testable import Payments

@Suite(.timeLimit(.minutes(10))) struct PublishedProductTests {
    /// An event of a store that is newer than this one.
    private func event(of product: Product) throws -> [UInt8] {
        let text = String(
            decoding: try EventCoding.encode(ProductChanged(product: product)),
            as: UTF8.self
        )
        return Array(
            text.replacing(
                "{\"product\":{",
                with: "{\"product\":{\"slogan\":\"\\u00e9 }\",\"tags\":[{}],"
            ).utf8
        )
    }

    @Test func aProductIsStoredAsItWasPublished() async throws {
        try await withStore { store in
            let film = product("newest.film")
            let data = try event(of: film)
            let received = ReceivedEvent(
                id: EventID(time: startTime),
                type: .productChanged,
                topic: "topic",
                key: film.id.rawValue,
                subject: film.id.rawValue,
                time: startTime,
                data: data,
                partition: 0,
                offset: 0
            )
            try await store.client.withTransaction { connection in
                try ProjectionHandler().apply([received], on: connection)
            }
            let kept = try await store.client.withConnection { connection in
                try connection.query("SELECT data FROM products WHERE id = 'newest.film'").first?
                    .decode(PostgresJSON.self).bytes
            }
            let text = String(decoding: data, as: UTF8.self)
            #expect(kept.map { "{\"product\":\(String(decoding: $0, as: UTF8.self))}" } == text)
            let products = try await store.client.withConnection { connection in
                try connection.read(ProductStore().load([film.id], at: store.clock.now()))
            }
            #expect(products[film.id] == film)
        }
    }

    @Test func theNewestVersionOfABatchIsStored() async throws {
        let newer = product("film", version: 2)
        let published = try [newer, product("film")].map { product in
            try PublishedProduct(of: product, in: event(of: product))
        }
        try await withStore { store in
            try await store.client.withTransaction { try ProductStore.store(published, on: $0) }
            let products = try await store.client.withConnection { connection in
                try connection.read(ProductStore().load([newer.id], at: store.clock.now()))
            }
            #expect(products == [newer.id: newer])
        }
    }
}
