import EventTypes
import Ledger
import ServiceKit
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Resumptions of interrupted payments (spec rule 114).
@Suite(.timeLimit(.minutes(10))) struct ResumptionHandlerTests {
    func resume(
        _ id: TransactionID,
        _ store: Store,
        by method: SandboxPaymentMethod = .success
    ) async throws -> Transaction? {
        guard
            case .resumed(let transaction) = try await store.resumptions.resume(
                id,
                by: method.method
            )
        else { return nil }
        return transaction
    }

    func interrupted(_ store: Store, _ product: String = "coins") async throws -> Transaction {
        let failed = try await store.buy(request(product, method: .interrupted), key: "a")
        #expect(failed.state == .failed && failed.failureReason == .interrupted)
        #expect(try await store.postings(of: failed.id).isEmpty)
        return failed
    }

    @Test func anInterruptedPaymentIsResumedAsOneNewTransaction() async throws {
        try await withStore { store in
            let failed = try await interrupted(store)
            let resumed = try #require(try await resume(failed.id, store))
            #expect(resumed.state == .purchasing && resumed.version == 1)
            #expect(resumed.id != failed.id && resumed.originalID == resumed.id)
            #expect(resumed.price == failed.price && resumed.failureReason == nil)
            try await store.settle()
            let purchased = try await store.load(resumed.id)
            #expect(purchased.state == .purchased)
            #expect(try await resume(failed.id, store) == purchased)
            #expect(try await store.load(failed.id) == failed)
            #expect(try await store.postings(of: resumed.id) == [.purchase])
            #expect(
                try await store.eventTypes(of: resumed.id) == [
                    "transaction.purchasing.v1", "transaction.purchased.v1",
                ]
            )
            #expect(try await store.booksBalance())
        }
    }

    @Test func askedForAtOnceItIsStillOne() async throws {
        try await withStore { store in
            let failed = try await interrupted(store)
            let ids = try await withThrowingTaskGroup(of: TransactionID?.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await resume(failed.id, store)?.id }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(ids.count == 1 && !ids.contains(nil))
            try await store.settle()
            #expect(try await store.count("transactions") == 2)
            #expect(try await store.count("ledger_postings") == 1)
        }
    }

    @Test func aResumptionWhoseProcessIsKilledIsCarriedOutByAnother() async throws {
        try await withStore { store in
            let failed = try await interrupted(store)
            let resumed = try #require(try await resume(failed.id, store))
            _ = store.pending.take()
            try await store.recover()
            #expect(try await store.load(resumed.id).state == .purchased)
        }
    }

    @Test func aPaymentThatIsInterruptedAgainIsResumedAgain() async throws {
        try await withStore { store in
            let failed = try await interrupted(store)
            let second = try #require(try await resume(failed.id, store, by: .interrupted))
            try await store.settle()
            let third = try #require(try await resume(second.id, store))
            try await store.settle()
            #expect(try await store.load(second.id).failureReason == .interrupted)
            #expect(try await store.load(third.id).state == .purchased)
            #expect(try await store.count("ledger_postings") == 1)
        }
    }

    @Test func aNonConsumableBoughtMeanwhileIsNotChargedTwice() async throws {
        try await withStore { store in
            let failed = try await interrupted(store, "film")
            let bought = try await store.buy(request("film"), key: "b")
            let resumed = try #require(try await resume(failed.id, store))
            try await store.settle()
            let granted = try await store.load(resumed.id)
            #expect(granted.state == .purchased && granted.price == usd(0))
            #expect(granted.originalID == bought.id)
            #expect(try await store.count("ledger_postings") == 1)
        }
    }

    @Test func aPaymentThatWasNotInterruptedIsNotResumed() async throws {
        try await withStore { store in
            let declined = try await store.buy(request(method: .decline), key: "a")
            let bought = try await store.buy(request(), key: "b")
            let counts = try await store.accountCounts()
            for id in [declined.id, bought.id] {
                guard case .notInterrupted = try await store.resumptions.resume(id, by: "")
                else { return #expect(Bool(false)) }
            }
            guard
                case .unknown = try await store.resumptions.resume(
                    TransactionID(number: 1),
                    by: ""
                )
            else { return #expect(Bool(false)) }
            #expect(try await store.accountCounts() == counts)
        }
    }

    @Test func aPaymentThatWouldBeRefusedNowIsNotResumed() async throws {
        try await withStore { store in
            let failed = try await interrupted(store)
            let france = Storefront(unchecked: "FRA")
            func refusal(by method: PaymentMethod) async throws -> PaymentRefusal? {
                guard
                    case .refused(let refusal) = try await store.resumptions.resume(
                        failed.id,
                        by: method
                    )
                else { return nil }
                return refusal
            }
            let success = SandboxPaymentMethod.success.method
            #expect(try await refusal(by: "nothing") == .paymentMethodUnknown)
            try await store.say(storefront: "FRA")
            #expect(try await refusal(by: success) == .storefrontChanged(current: france))
            try await store.say(canMakePayments: false, storefront: "USA")
            #expect(try await refusal(by: success) == .paymentsNotAllowed)
            #expect(try await store.count("resumptions") == 0)
            try await store.say(canMakePayments: true)
            #expect(try await resume(failed.id, store) != nil)
        }
    }

    /// No buyer is charged for a product that is off sale, or another price than the accepted one
    /// (traps 25 and 26).
    @Test func aProductOffSaleOrWithAnotherPriceIsNotResumed() async throws {
        try await withStore { store in
            let failed = try await store.buy(
                request(quantity: 3, method: .interrupted),
                key: "a"
            )
            func refusal() async throws -> PaymentRefusal? {
                guard
                    case .refused(let refusal) = try await store.resumptions.resume(
                        failed.id,
                        by: SandboxPaymentMethod.success.method
                    )
                else { return nil }
                return refusal
            }
            try await store.sell(product(price: usd(1299), version: 2))
            #expect(try await refusal() == .stalePrice(current: usd(1299)))
            try await store.sell(product(version: 3, isOnSale: false))
            #expect(try await refusal() == .productUnavailable)
            #expect(try await store.count("resumptions") == 0)
            try await store.sell(product(version: 4))
            let resumed = try #require(try await resume(failed.id, store))
            #expect(resumed.price == usd(2997) && resumed.quantity == 3)
            // A resumed payment goes on, even if the product goes off sale.
            try await store.sell(product(version: 5, isOnSale: false))
            try await store.settle()
            #expect(try await store.load(resumed.id).state == .purchased)
            #expect(try await resume(failed.id, store)?.id == resumed.id)
        }
    }
}
