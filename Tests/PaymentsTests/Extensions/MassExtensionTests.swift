import EventTypes
import Messaging
import Postgres
import ServiceKit
import StoreTracing
import Subscriptions
import TestSupport
import Testing

@testable import Payments

/// Extensions of all subscribers of a product, on a real PostgreSQL.
@Suite(.timeLimit(.minutes(10))) struct MassExtensionTests {
    private static let names = ["ada", "ben", "cleo", "dan"]

    private func account(_ name: String) -> AuthenticatedAccount {
        AuthenticatedAccount(accountID: AccountID(unchecked: name), bundleID: alice.bundleID)
    }

    private func masses(_ store: Store) -> MassExtensionHandler {
        MassExtensionHandler(
            context: store.context,
            products: ProductStore(),
            didCommit: {},
            pageSize: 2
        )
    }

    /// A request to extend the subscriptions to a product.
    func wanted(
        _ identifier: String = "outage",
        of product: String = "club",
        days: Int = 3,
        storefronts: [String]? = nil
    ) -> MassExtension {
        MassExtension(
            number: 0,
            bundleID: alice.bundleID,
            productID: ProductID(unchecked: product),
            requestIdentifier: identifier,
            days: days,
            reasonCode: 3,
            storefronts: storefronts?.map { Storefront(unchecked: $0) },
            acceptedAt: startTime
        )
    }

    private func accept(_ request: MassExtension, in store: Store) async throws
        -> MassExtensionHandler.Reply
    {
        try await masses(store).accept(request, by: nil, trace: .begin())
    }

    private func finish(_ store: Store) async throws -> MassExtension? {
        let failures = try await masses(store).work()
        #expect(failures.isEmpty, "\(failures)")
        return try await masses(store).request(
            "outage",
            of: ProductID(unchecked: "club"),
            in: alice.bundleID
        )
    }

    /// The numbers of days by which each subscription was extended, the oldest subscription first.
    private func days(_ store: Store) async throws -> [[Int]] {
        try await store.client.withConnection { connection in
            try SubscriptionStore.page(in: nil, after: nil, limit: 100, on: connection)
        }.map { ($0.extensions ?? []).map(\.days) }
    }

    private func events(_ store: Store) async throws -> [MassExtensionChanged] {
        try await store.client.withConnection { connection in
            try connection.query(
                """
                SELECT unpacked_json(data)::json FROM outbox
                WHERE type = 'mass-extension.changed.v1' ORDER BY xid, position
                """
            ).map { try $0.decode(PostgresJSON.self).decode(MassExtensionChanged.self) }
        }
    }

    /// Four subscriptions.
    private func withClubs(_ body: @escaping @Sendable (Store) async throws -> Void) async throws {
        try await withStore { store in
            try await store.sell(club(), product())
            for name in Self.names {
                _ = try await store.buy(
                    request("club", price: usd(299)),
                    key: name,
                    of: account(name)
                )
            }
            try await body(store)
        }
    }

    @Test func everySubscriberIsExtendedOnceAndNobodyElse() async throws {
        try await withClubs { store in
            guard case .accepted(let accepted) = try await accept(wanted(), in: store) else {
                return #expect(Bool(false), "it was refused")
            }
            #expect(accepted.number == 1 && accepted.completedAt == nil)
            // Who subscribes after the request is none of its subscribers.
            _ = try await store.buy(
                request("club", price: usd(299)),
                key: "late",
                of: account("late")
            )
            let done = try #require(try await finish(store))
            #expect(done.succeededCount == 4 && done.failedCount == 0 && done.completedAt != nil)
            #expect(try await days(store) == [[3], [3], [3], [3], []])
            let events = try await events(store)
            #expect(events.map(\.request.completedAt) == [nil, done.completedAt])
            #expect(events.last?.request == done)
            #expect(try await accept(wanted(), in: store) == .accepted(done))
            #expect(try await accept(wanted(days: 4), in: store) == .differs)
            #expect(try await finish(store) == done)
            #expect(try await days(store) == [[3], [3], [3], [3], []])
            #expect(try await store.booksBalance())
        }
    }

    @Test func whoCannotBeExtendedCountsAsFailed() async throws {
        try await withClubs { store in
            for identifier in ["first", "second"] {
                _ = try await accept(wanted(identifier), in: store)
                _ = try await finish(store)
            }
            _ = try await store.buy(
                request("club", price: usd(299)),
                key: "late",
                of: account("late")
            )
            _ = try await accept(wanted(), in: store)
            let done = try #require(try await finish(store))
            #expect(done.succeededCount == 1 && done.failedCount == 4)
            let failed = try await events(store).compactMap(\.failed)
            #expect(failed.map(\.accountID.rawValue) == ["ada", "ben", "cleo", "dan"])
            #expect(try await days(store) == [[3, 3], [3, 3], [3, 3], [3, 3], [3]])
        }
    }

    @Test(arguments: [true, false])
    func aSubscriptionThatLapsesBeforeItsTurnDoesNotCount(isAcceptedFirst: Bool) async throws {
        try await withClubs { store in
            let lapsing = try await store.buy(
                request("club", price: usd(299)),
                key: "lapsing",
                of: account("lapsing")
            )
            _ = try await store.subscriptions.decide(
                .autoRenew(false),
                on: lapsing.id,
                trace: .begin()
            )
            if isAcceptedFirst { _ = try await accept(wanted(), in: store) }
            try await store.advance(days: 40)
            _ = try await accept(wanted(), in: store)
            let done = try #require(try await finish(store))
            #expect(done.succeededCount == 4 && done.failedCount == 0)
            #expect(try await days(store) == [[3], [3], [3], [3], []])
        }
    }

    @Test func onlySubscribersOfTheStorefrontsCount() async throws {
        try await withClubs { store in
            _ = try await accept(wanted(storefronts: ["DEU"]), in: store)
            let done = try #require(try await finish(store))
            #expect(done.succeededCount == 0 && done.failedCount == 0)
            _ = try await accept(wanted("again", storefronts: ["DEU", "USA"]), in: store)
            _ = try await finish(store)
            #expect(try await days(store) == [[3], [3], [3], [3]])
        }
    }

    @Test func whoMovesToAnotherStorefrontMeanwhileIsNotExtended() async throws {
        try await withClubs { store in
            _ = try await accept(wanted(storefronts: ["USA"]), in: store)
            try await store.client.withTransaction { connection in
                guard var record = try MassExtensionStore.takeOpen(1, on: connection) else {
                    throw HarnessError("The request is not open.")
                }
                let page = try MassExtensionStore.page(of: record, limit: 2, on: connection)
                #expect(page.keys.map(\.accountID.rawValue) == ["ada", "ben"])
                // As a renewal in another storefront would, before its subscription is locked.
                _ = try connection.execute(
                    """
                    UPDATE subscriptions SET data = replace(
                        data::text, '"storefront":"USA"', '"storefront":"DEU"')::json
                    WHERE account_id = 'ada'
                    """
                )
                try masses(store).extend(page, &record, on: connection)
            }
            let done = try #require(try await finish(store))
            #expect(done.succeededCount == 3 && done.failedCount == 0)
            #expect(try await days(store) == [[], [3], [3], [3]])
        }
    }

    @Test func aProductThatIsNoSubscriptionIsRefused() async throws {
        try await withClubs { store in
            for product in ["coins", "nothing"] {
                let reply = try await accept(wanted(of: product), in: store)
                #expect(reply == .unknownProduct)
            }
        }
    }

    @Test func aRepetitionIsAnsweredThoughItsProductIsNoSubscriptionAnyMore() async throws {
        try await withClubs { store in
            let accepted = try await accept(wanted(), in: store)
            try await store.sell(product("club", version: 2))
            #expect(try await accept(wanted(), in: store) == accepted)
            #expect(try await accept(wanted("new"), in: store) == .unknownProduct)
        }
    }

    @Test func aRequestThatFailsDoesNotHoldUpTheNextOne() async throws {
        try await withClubs { store in
            _ = try await accept(wanted("broken"), in: store)
            _ = try await accept(wanted(), in: store)
            try await store.client.withTransaction { connection in
                _ = try connection.execute(
                    "UPDATE mass_extensions SET data = '{}' WHERE number = 1"
                )
            }
            let failures = try await masses(store).work()
            #expect(failures.map { $0.number } == [1])
            #expect(try await days(store) == [[3], [3], [3], [3]])
        }
    }

    @Test func workersAndRequestsAtOnceExtendOnce() async throws {
        try await withClubs { store in
            try await withThrowingTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask { _ = try await accept(wanted(), in: store) }
                    group.addTask { _ = try await finish(store) }
                }
                try await group.waitForAll()
            }
            let done = try #require(try await finish(store))
            #expect(done.succeededCount == 4 && done.failedCount == 0)
            #expect(try await days(store) == [[3], [3], [3], [3]])
            #expect(try await events(store).count == 2)
        }
    }
}
