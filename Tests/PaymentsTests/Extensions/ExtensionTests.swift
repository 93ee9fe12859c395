import EventTypes
import StoreAPI
import StoreTracing
import Subscriptions
import TestSupport
import Testing

@testable import Payments

@Suite(.timeLimit(.minutes(10))) struct ExtensionTests {
    private func extend(
        _ id: TransactionID,
        _ key: String = "a",
        days: Int = 3,
        in store: Store
    ) async throws -> SubscriptionHandler.Reply {
        try await store.subscriptions.extend(
            id,
            by: RequestedExtension(id: key, days: days, reasonCode: 0),
            act: nil,
            trace: .begin()
        )
    }

    @Test func thePeriodAndItsTransactionEndLater() async throws {
        try await withStore { store in
            try await store.sell(club())
            let bought = try await store.buy(request("club", price: usd(299)), key: "a")
            let before = try await store.subscription().period.end
            _ = try await extend(bought.id, in: store)
            let end = before.advanced(by: .seconds(3 * 86_400))
            #expect(try await store.subscription().period.end == end)
            let extended = try await store.load(bought.id)
            #expect(extended.subscription?.end == end && extended.version == bought.version + 1)
            #expect(
                try await store.eventTypes(of: bought.id).suffix(2) == [
                    "transaction.extended.v1", "subscription.changed.v1",
                ]
            )
            try await store.advance(days: 40)
            let next = try await store.subscription().period
            #expect(next.start == end && next.transactionID != bought.id)
            #expect(try await store.auditFindings() == [])
            #expect(try await store.booksBalance())
        }
    }

    @Test func tenRequestsWithOneIdentifierExtendOnce() async throws {
        try await withStore { store in
            try await store.sell(club())
            let bought = try await store.buy(request("club", price: usd(299)), key: "a")
            try await withThrowingTaskGroup { group in
                for _ in 0..<10 {
                    group.addTask { _ = try await extend(bought.id, in: store) }
                }
                try await group.waitForAll()
            }
            #expect(try await store.subscription().extensions?.count == 1)
            #expect(try await store.subscription().version == 2)
        }
    }

    @Test func ofTenRequestsAtOnceTwoExtend() async throws {
        try await withStore { store in
            try await store.sell(club())
            let bought = try await store.buy(request("club", price: usd(299)), key: "a")
            try await withThrowingTaskGroup { group in
                for key in 0..<10 {
                    group.addTask { _ = try await extend(bought.id, "\(key)", in: store) }
                }
                try await group.waitForAll()
            }
            #expect(try await store.subscription().extensions?.count == 2)
        }
    }

    @Test func aSubscriptionThatHasLapsedIsNotExtended() async throws {
        try await withStore { store in
            try await store.sell(club())
            let bought = try await store.buy(request("club", price: usd(299)), key: "a")
            _ = try await store.subscriptions.decide(
                .autoRenew(false),
                on: bought.id,
                trace: .begin()
            )
            try await store.advance(days: 40)
            let reply = try await extend(bought.id, in: store)
            #expect(reply == .refused(.notExtendable))
        }
    }
}
