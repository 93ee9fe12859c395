import EventTypes
import Postgres
import StoreAPI
import TestSupport
import Testing

@testable import Payments

@Suite(.timeLimit(.minutes(10))) struct PaymentHandlerTests {
    @Test func anAcceptedPaymentIsATransactionAnAttemptAndAnEvent() async throws {
        try await withStore { store in
            let added = try await store.add(request(quantity: 3), key: "a")
            #expect(added.state == .purchasing)
            #expect(added.price == usd(2997))
            #expect(added.version == 1)
            #expect(try await store.load(added.id) == added)
            #expect(try await store.eventTypes(of: added.id) == ["transaction.purchasing.v1"])
            #expect(try await store.counts() == [1, 1, 0, 0, 1, 0, 0])
        }
    }

    @Test func theSameRequestUnderItsKeyIsAnsweredAsTheFirstTime() async throws {
        try await withStore { store in
            let first = try await store.add(request(), key: "a")
            try await store.settle()
            let counts = try await store.counts()
            let replies = try await store.payments.accept([
                PaymentSubmission(account: alice, idempotencyKey: "a", request: request())
            ])
            guard case .accepted(_, let isReplay) = replies[0] else {
                return #expect(Bool(false))
            }
            #expect(isReplay)
            #expect(try store.transaction(in: replies[0]) == first)
            #expect(try await store.counts() == counts)
        }
    }

    @Test func anotherRequestUnderAUsedKeyIsRefused() async throws {
        try await withStore { store in
            try await store.add(request(), key: "a")
            await #expect(throws: PaymentRefusal.idempotencyKeyReused) {
                try await store.add(request(quantity: 2), key: "a")
            }
            // Keys of different accounts are independent.
            try await store.add(request(quantity: 2), key: "a", of: bob)
            #expect(try await store.count("transactions") == 2)
        }
    }

    @Test func withinABatchOneKeyHasOneEffect() async throws {
        try await withStore { store in
            let same = PaymentSubmission(account: alice, idempotencyKey: "a", request: request())
            let other = PaymentSubmission(
                account: alice,
                idempotencyKey: "a",
                request: request(quantity: 2)
            )
            let replies = try await store.payments.accept([same, other, same, same])
            let ids = try [0, 2, 3].map { try store.transaction(in: replies[$0]).id }
            #expect(Set(ids).count == 1)
            #expect(throws: PaymentRefusal.idempotencyKeyReused) {
                try store.transaction(in: replies[1])
            }
            #expect(try await store.count("transactions") == 1)
        }
    }

    @Test func concurrentRequestsUnderOneKeyHaveOneEffect() async throws {
        try await withStore { store in
            let ids = try await withThrowingTaskGroup(of: TransactionID.self) { group in
                for _ in 0..<40 {
                    group.addTask { try await store.add(request(), key: "a").id }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(ids.count == 1)
            #expect(try await store.counts() == [1, 1, 0, 0, 1, 0, 0])
        }
    }

    @Test(arguments: RandomSeed.ofThisRun)
    func concurrentBatchesThatShareKeysInAnyOrderHaveOneEffectEach(
        seed: RandomSeed
    ) async throws {
        try await withStore { store in
            let submissions = (0..<50).map {
                PaymentSubmission(account: alice, idempotencyKey: "k\($0)", request: request())
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for stream in 0..<8 {
                    var random = seed.generator(stream)
                    let shuffled = submissions.shuffled(using: &random)
                    group.addTask {
                        for reply in try await store.payments.accept(shuffled) {
                            _ = try store.transaction(in: reply)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.counts() == [50, 50, 0, 0, 50, 0, 0])
        }
    }

    static let refused: [(PaymentRequest, PaymentRefusal)] = [
        (request("nothing"), .productUnknown),
        (request("gone"), .productUnavailable),
        (request(storefront: "FRA"), .productUnavailable),
        (request(quantity: 0), .quantityOutOfRange(max: 10)),
        (request(quantity: .max), .quantityOutOfRange(max: 10)),
        (request("film", quantity: 2), .quantityOutOfRange(max: 1)),
        (
            request(price: Money(minorUnits: 999, currency: Currency(unchecked: "EUR"))),
            .wrongCurrency(expected: Currency(unchecked: "USD"))
        ),
        (request(price: usd(1)), .stalePrice(current: usd(999))),
    ]

    @Test func aRefusalChangesNothingAndDoesNotUseUpItsKey() async throws {
        try await withStore { store in
            try await store.sell(product("gone", isOnSale: false))
            let before = try await store.counts()
            for (request, refusal) in Self.refused {
                await #expect(throws: refusal) { try await store.add(request, key: "a") }
            }
            #expect(try await store.counts() == before)
            try await store.add(request(), key: "a")
        }
    }

    @Test func aBatchAcceptsAndRefusesEachByItself() async throws {
        try await withStore { store in
            let requests = [
                request(), request("nothing"), request(quantity: 2), request(quantity: 0),
            ]
            let replies = try await store.payments.accept(
                requests.enumerated().map {
                    PaymentSubmission(account: alice, idempotencyKey: "k\($0)", request: $1)
                }
            )
            #expect(try store.transaction(in: replies[0]).quantity == 1)
            #expect(try store.transaction(in: replies[2]).quantity == 2)
            #expect(throws: PaymentRefusal.productUnknown) { try store.transaction(in: replies[1]) }
            #expect(try await store.counts() == [2, 2, 0, 0, 2, 0, 0])
        }
    }

    @Test func aNewerPriceIsSoldAtOnceAndAnOlderEventChangesNothing() async throws {
        try await withStore { store in
            try await store.add(request(), key: "a")
            try await store.sell(product(price: usd(500), version: 3))
            try await store.sell(product(price: usd(700), version: 2))
            await #expect(throws: PaymentRefusal.stalePrice(current: usd(500))) {
                try await store.add(request(), key: "b")
            }
            try await store.add(request(price: usd(500)), key: "b")
        }
    }

    @Test func aFreeProductIsPurchasedWithoutAChargeOrAPosting() async throws {
        try await withStore { store in
            try await store.sell(product("sample", price: usd(0)))
            let bought = try await store.buy(request("sample", price: usd(0)), key: "a")
            #expect(bought.state == .purchased)
            #expect(
                try await store.eventTypes(of: bought.id) == [
                    "transaction.purchasing.v1", "transaction.purchased.v1",
                ]
            )
            #expect(try await store.counts() == [1, 0, 0, 0, 2, 0, 0])
        }
    }
}
