import EventTypes
import ReceiptValidation
import Testing

@testable import Receipts

/// Refunds, their reversals and copies in the app receipt.
@Suite(.timeLimit(.minutes(10))) struct AppReceiptRefundTests {
    private let chain: SigningChain

    init() throws { chain = try TestChain().signingChain() }

    @Test func aRefundStandsInTheReceipt() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.buy(purchased(1, type: .nonConsumable))
            #expect(try await store.read().purchases[0].cancelledAt == nil)
            let refunded = purchased(
                1,
                version: 3,
                type: .nonConsumable,
                revokedAt: TestChain.now
            )
            try await store.events.apply([try .of(.transactionRefunded, refunded)])
            #expect(try await store.read().purchases[0].cancelledAt == TestChain.now.date)
        }
    }

    @Test func aPurchaseWhoseRefundIsReversedIsBack() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.buy(purchased(1, type: .nonConsumable))
            for (version, reversed) in [(3, false), (4, true), (5, true)] {
                let change = purchased(
                    1,
                    version: version,
                    type: .nonConsumable,
                    revokedAt: reversed ? nil : TestChain.now,
                    refunds: [.sample(1, 297, revokes: true, isReversed: reversed)]
                )
                try await store.events.apply([
                    .of(reversed ? .transactionRefundReversed : .transactionRefunded, change)
                ])
                let cancelled = try await store.read().purchases.map(\.cancelledAt)
                #expect(cancelled == [reversed ? nil : TestChain.now.date])
            }
        }
    }

    @Test func aRefundOfAPartCancelsNothing() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.buy(purchased(1, type: .nonConsumable))
            let part = purchased(1, version: 3, type: .nonConsumable, refunds: [.sample(1, 100)])
            try await store.events.apply([.of(.transactionRefunded, part)])
            #expect(try await store.read().purchases.map(\.cancelledAt) == [nil])
        }
    }

    @Test func whatNamesAnEarlierTransactionAndIsNoCopyIsAnEntryOfItsOwn() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            let type = ProductType.autoRenewableSubscription
            try await store.buy(
                purchased(1, type: type),
                purchased(2, originalNumber: 1, reason: .unknown("renewal"), type: type)
            )
            #expect(try await store.read().purchases.map(\.transactionID) == ["1", "2"])
        }
    }

    @Test func theRefundOfTheOriginalEndsThePurchaseWhateverWasRestored() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.buy(purchased(1, type: .nonConsumable))
            try await store.events.apply([
                .of(
                    .transactionRestored,
                    purchased(2, originalNumber: 1, state: .restored, type: .nonConsumable)
                ),
                .of(
                    .transactionRefunded,
                    purchased(1, version: 3, type: .nonConsumable, revokedAt: TestChain.now)
                ),
            ])
            let purchases = try await store.read().purchases
            #expect(purchases.map(\.transactionID) == ["1"])
            #expect(purchases.map(\.cancelledAt) == [TestChain.now.date])
        }
    }

    @Test func theRefundOfACopyEndsNothing() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.buy(purchased(1, type: .nonConsumable))
            try await store.buy(purchased(2, originalNumber: 1, type: .nonConsumable))
            try await store.events.apply([
                .of(
                    .transactionRefunded,
                    purchased(
                        2,
                        originalNumber: 1,
                        version: 3,
                        type: .nonConsumable,
                        revokedAt: TestChain.now
                    )
                )
            ])
            let purchases = try await store.read().purchases
            #expect(purchases.map(\.transactionID) == ["1"])
            #expect(purchases.map(\.cancelledAt) == [nil])
        }
    }
}
