import EventTypes
import Postgres
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Purchases of non-consumables (spec X1, rule 104, traps 22 and 23).
@Suite(.timeLimit(.minutes(10))) struct OwnershipTests {
    @Test func anOwnedNonConsumableIsGrantedAgainWithoutACharge() async throws {
        try await withStore { store in
            let first = try await store.buy(request("film"), key: "a")
            let added = try await store.add(request("film"), key: "b")
            let again = try await store.load(added.id)
            #expect(added.state == .purchasing)
            #expect(again.state == .purchased)
            #expect(again.originalID == first.id)
            #expect(again.originalPurchasedAt == first.purchasedAt)
            #expect(again.price == usd(0))
            #expect(try await store.count("sandbox_processor.charges") == 1)
            #expect(try await store.count("ledger_postings") == 1)
            // The answer under the key does not change.
            #expect(try await store.add(request("film"), key: "b") == added)
        }
    }

    @Test func twoPurchasesAtOnceAreTwoTransactionsAndOneCharge() async throws {
        try await withStore { store in
            let ids = try await withThrowingTaskGroup(of: TransactionID.self) { group in
                for key in ["a", "b", "c", "d"] {
                    group.addTask { try await store.add(request("film"), key: key).id }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }.sorted()
            try await store.settle()
            var transactions: [Transaction] = []
            for id in ids { transactions.append(try await store.load(id)) }
            #expect(transactions.allSatisfy { $0.state == .purchased })
            #expect(transactions.filter { !$0.price.isZero }.count == 1)
            #expect(Set(transactions.map(\.originalID)).count == 1)
            #expect(try await store.count("sandbox_processor.charges") == 1)
            for transaction in transactions {
                let first = try await store.load(transaction.id)
                #expect(first.version == 2)
            }
        }
    }

    @Test func whenTheFirstFailsTheNextIsCharged() async throws {
        try await withStore { store in
            let first = try await store.add(request("film", method: .decline), key: "a")
            let second = try await store.add(request("film"), key: "b")
            let third = try await store.add(request("film"), key: "c")
            try await store.settle()
            #expect(try await store.load(first.id).state == .failed)
            #expect(try await store.load(second.id).price == usd(999))
            #expect(try await store.load(second.id).state == .purchased)
            #expect(try await store.load(third.id).price == usd(0))
            #expect(try await store.load(third.id).originalID == second.id)
            #expect(try await store.add(request("film"), key: "c") == third)
        }
    }

    @Test(arguments: [FailureReason.paymentsNotAllowed, .storefrontChanged])
    func whoWaitedIsNotChargedWhereTheAccountMayNotPayByThen(_ reason: FailureReason) async throws {
        try await withStore { store in
            try await store.add(request("film", method: .decline), key: "a")
            let waiting = [
                try await store.add(request("film"), key: "b"),
                try await store.add(request("film"), key: "c"),
            ]
            if reason == .storefrontChanged {
                try await store.say(storefront: "FRA")
            } else {
                try await store.say(canMakePayments: false)
            }
            try await store.settle()
            for transaction in waiting {
                #expect(try await store.load(transaction.id).failureReason == reason)
            }
            #expect(try await store.count("ledger_postings") == 0)
            #expect(store.processor.chargesAsked == 1)
            // The ownership has no holder, so the product can be bought once the account may pay
            // again.
            try await store.say(canMakePayments: true, storefront: "USA")
            #expect(try await store.buy(request("film"), key: "d").price == usd(999))
        }
    }

    @Test func ofThoseWhoWaitedTheFirstThatMayBeChargedIs() async throws {
        try await withStore { store in
            var sold = product("film", .nonConsumable, version: 2)
            sold.prices[Storefront(unchecked: "FRA")] = usd(999)
            try await store.sell(sold)
            try await store.add(request("film", method: .decline), key: "a")
            let old = try await store.add(request("film"), key: "b")
            let french = try await store.add(request("film", storefront: "FRA"), key: "c")
            let later = try await store.add(request("film", storefront: "FRA"), key: "d")
            try await store.say(storefront: "FRA")
            try await store.settle()
            #expect(try await store.load(old.id).failureReason == .storefrontChanged)
            #expect(try await store.load(french.id).price == usd(999))
            #expect(try await store.load(later.id).originalID == french.id)
            #expect(try await store.count("ledger_postings") == 1)
        }
    }

    /// An accepted payment is charged at its accepted price, however long it waits.
    ///
    /// Later payments are judged by the changed product (traps 25 to 27).
    @Test(arguments: [true, false])
    func whoWaitedPaysThePriceThatWasAccepted(isOnSale: Bool) async throws {
        try await withStore { store in
            try await store.add(request("film", method: .decline), key: "a")
            let waiting = try await store.add(request("film"), key: "b")
            let asked = try await store.buy(request(method: .needsApproval), key: "c", of: bob)
            try await store.sell(
                product("film", .nonConsumable, price: usd(1499), version: 2, isOnSale: isOnSale),
                product(price: usd(1499), version: 2, isOnSale: isOnSale)
            )
            for product in ["film", "coins"] {
                await #expect(
                    throws: isOnSale
                        ? PaymentRefusal.stalePrice(current: usd(1499)) : .productUnavailable
                ) { try await store.add(request(product), key: "d-\(product)") }
            }
            _ = try await store.approvals.decide(.approve, on: asked.id)
            try await store.settle()
            for id in [waiting.id, asked.id] {
                let charged = try await store.load(id)
                #expect(charged.state == .purchased && charged.price == usd(999))
            }
            #expect(try await store.booksBalance())
        }
    }

    @Test func afterARefundItIsChargedAgain() async throws {
        try await withStore { store in
            let first = try await store.buy(request("film"), key: "a")
            guard case .accepted(let attempt, _) = try await store.refunds.beginRefund(of: first.id)
            else {
                return #expect(Bool(false))
            }
            await store.runner.carryOut([attempt])
            let again = try await store.buy(request("film"), key: "b")
            #expect(again.price == usd(999))
            #expect(again.originalID == again.id)
            #expect(try await store.count("sandbox_processor.charges") == 2)
        }
    }

    @Test func whatOneAccountOwnsIsChargedToAnother() async throws {
        try await withStore { store in
            try await store.buy(request("film"), key: "a")
            #expect(try await store.buy(request("film"), key: "a", of: bob).price == usd(999))
        }
    }

    @Test func aDeferredPaymentHoldsUpNobodyAndIsGrantedIfOwnedMeanwhile() async throws {
        try await withStore { store in
            let asked = try await store.buy(request("film", method: .needsApproval), key: "a")
            #expect(asked.state == .deferred)
            let bought = try await store.buy(request("film"), key: "b")
            #expect(bought.price == usd(999))
            _ = try await store.approvals.decide(.approve, on: asked.id)
            try await store.settle()
            let granted = try await store.load(asked.id)
            #expect(granted.state == .purchased)
            #expect(granted.price == usd(0))
            #expect(granted.originalID == bought.id)
            #expect(try await store.count("sandbox_processor.charges") == 1)
        }
    }
}
