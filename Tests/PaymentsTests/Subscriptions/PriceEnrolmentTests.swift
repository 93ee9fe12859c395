import EventTypes
import Postgres
import ServiceKit
import StoreAPI
import StoreTracing
import Subscriptions
import TestSupport
import Testing

@testable import Payments

/// Higher prices that the catalog schedules for those who have subscribed already (rules S30, S31 and
/// S121).
@Suite struct PriceEnrolmentTests {
    private static let usa = Storefront(unchecked: "USA")

    /// The club for 2.99 USD, which costs another price from a time on.
    private static func club(
        _ price: Money,
        from time: StoreTime,
        _ existing: ExistingSubscribers = .raise,
        version: Int = 2
    ) -> Product {
        var product = PaymentsTests.club(version: version)
        product.priceChanges[usa] = PriceChange(
            price: price,
            from: time,
            existingSubscribers: existing
        )
        return product
    }

    /// A handler with small pages.
    private static func handler(_ store: Store) -> PriceEnrolmentHandler {
        PriceEnrolmentHandler(context: store.context, didCommit: {}, pageSize: 2, lookMax: 3)
    }

    /// Tells all subscribers, in pages.
    private static func tell(_ store: Store) async throws {
        let failures = try await handler(store).tell()
        #expect(failures.isEmpty, "\(failures)")
    }

    private static func account(_ name: String) -> AuthenticatedAccount {
        AuthenticatedAccount(accountID: AccountID(unchecked: name), bundleID: alice.bundleID)
    }

    @Test func whoHasSubscribedIsInformedAndThenPaysMore() async throws {
        try await withStore { store in
            try await store.sell(PaymentsTests.club())
            try await store.buy(request("club", price: usd(299)), key: "1")
            let time = store.clock.now().advanced(by: .days(40))
            try await store.sell(Self.club(usd(349), from: time))
            try await Self.tell(store)
            #expect(try await store.subscription().priceIncrease?.status == .scheduled)
            // The same version again, as after a restart, tells nobody anew.
            try await store.sell(Self.club(usd(349), from: time))
            try await Self.tell(store)
            try await store.advance(days: 70)
            let prices = try await store.transactions().map(\.price)
            #expect(prices == [usd(299), usd(299), usd(349)])
            let causes = try await store.subscriptionChanges().map(\.cause)
            #expect(causes.count { $0 == .priceIncreaseScheduled } == 1)
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func whoIsPreservedKeepsThePriceAndNewBuyersPayMore() async throws {
        try await withStore { store in
            try await store.sell(PaymentsTests.club())
            try await store.buy(request("club", price: usd(299)), key: "1")
            let time = store.clock.now().advanced(by: .days(10))
            try await store.sell(Self.club(usd(349), from: time, .preserve))
            try await Self.tell(store)
            try await store.advance(days: 70)
            #expect(try await store.transactions().map(\.price) == [usd(299), usd(299), usd(299)])
            #expect(try await store.subscription().priceIncrease == nil)
            let stale = PaymentSubmission(
                account: bob,
                idempotencyKey: "2",
                request: request("club", price: usd(299))
            )
            let reply = try await store.payments.accept([stale]).first
            guard case .refused(.stalePrice(let current))? = reply else {
                Issue.record("\(reply as Any)")
                return
            }
            #expect(current == usd(349))
        }
    }

    @Test func aLowerPriceReachesEverybodyWhenItsTimeComes() async throws {
        try await withStore { store in
            try await store.sell(PaymentsTests.club())
            try await store.buy(request("club", price: usd(299)), key: "1")
            let time = store.clock.now().advanced(by: .days(40))
            try await store.sell(Self.club(usd(199), from: time, .preserve))
            try await store.advance(days: 70)
            #expect(try await store.transactions().map(\.price) == [usd(299), usd(299), usd(199)])
        }
    }

    @Test func whatTheCatalogTakesBackIsNeverCharged() async throws {
        try await withStore { store in
            try await store.sell(PaymentsTests.club())
            try await store.buy(request("club", price: usd(299)), key: "1")
            let time = store.clock.now().advanced(by: .days(40))
            try await store.sell(Self.club(usd(349), from: time))
            try await Self.tell(store)
            try await store.sell(PaymentsTests.club(version: 3))
            try await Self.tell(store)
            #expect(try await store.subscription().priceIncrease == nil)
            try await store.advance(days: 70)
            #expect(try await store.transactions().map(\.price) == [usd(299), usd(299), usd(299)])
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func whatIsTakenBackStaysAwayFromWhoReturnsToTheProduct() async throws {
        try await withStore { store in
            try await store.sell(
                PaymentsTests.club(),
                PaymentsTests.club("bronze", level: 3, price: usd(99))
            )
            let id = try await store.buy(request("club", price: usd(299)), key: "1").id
            let time = store.clock.now().advanced(by: .days(40))
            try await store.sell(Self.club(usd(349), from: time))
            try await Self.tell(store)
            func choose(_ product: String) async throws {
                _ = try await store.subscriptions.decide(
                    .product(ProductID(unchecked: product)),
                    on: id,
                    trace: .begin()
                )
            }
            try await choose("bronze")
            #expect(try await store.subscription().priceIncrease != nil)
            try await store.sell(PaymentsTests.club(version: 3))
            try await Self.tell(store)
            try await choose("club")
            #expect(try await store.subscription().priceIncrease == nil)
            try await store.advance(days: 70)
            #expect(try await store.transactions().map(\.price) == [usd(299), usd(299), usd(299)])
            #expect(try await store.auditFindings() == [])
        }
    }

    /// The version that sets the price of the moment has no change in it any more.
    @Test(arguments: [(349, 349), (399, 349), (319, 299)] as [(Int64, Int64)])
    func aRaiseInForceEndsOnlyWithALowerPrice(set: Int64, charged: Int64) async throws {
        try await withStore { store in
            try await store.sell(PaymentsTests.club())
            try await store.buy(request("club", price: usd(299)), key: "1")
            let time = store.clock.now().advanced(by: .days(40))
            try await store.sell(Self.club(usd(349), from: time))
            try await Self.tell(store)
            try await store.advance(days: 45)
            try await store.sell(PaymentsTests.club(price: usd(set), version: 3))
            try await Self.tell(store)
            try await store.advance(days: 25)
            let prices = try await store.transactions().map(\.price)
            #expect(prices == [usd(299), usd(299), usd(charged)])
            #expect(try await store.auditFindings() == [])
        }
    }

    /// A version that arrives late changes nothing.
    @Test func anOlderVersionTellsNobody() async throws {
        try await withStore { store in
            try await store.sell(PaymentsTests.club(version: 3))
            try await store.buy(request("club", price: usd(299)), key: "1")
            let time = store.clock.now().advanced(by: .days(40))
            try await store.sell(Self.club(usd(349), from: time, version: 2))
            try await Self.tell(store)
            #expect(try await store.subscription().priceIncrease == nil)
        }
    }

    @Test func whoSubscribesMeanwhileLearnsOfItWithTheFirstRenewal() async throws {
        try await withStore { store in
            let time = store.clock.now().advanced(by: .days(5))
            try await store.sell(Self.club(usd(349), from: time))
            try await Self.tell(store)
            try await store.buy(request("club", price: usd(299)), key: "1")
            try await store.advance(days: 70)
            #expect(try await store.transactions().map(\.price) == [usd(299), usd(299), usd(349)])
            #expect(try await store.auditFindings() == [])
        }
    }

    /// Whatever is killed between two pages, the next one goes on where the last one ended.
    @Test func everySubscriberIsToldOnceInPages() async throws {
        try await withStore { store in
            try await store.sell(PaymentsTests.club())
            for name in ["alice", "bob", "carol", "dave", "eve"] {
                try await store.buy(
                    request("club", price: usd(299)),
                    key: name,
                    of: Self.account(name)
                )
            }
            let time = store.clock.now().advanced(by: .days(40))
            try await store.sell(Self.club(usd(349), from: time))
            let key = PriceEnrolment.Key(
                productID: ProductID(unchecked: "club"),
                storefront: Self.usa
            )
            #expect(try await Self.handler(store).tellPage(of: key))
            let told = try await store.subscriptionChanges().count {
                $0.cause == .priceIncreaseScheduled
            }
            #expect(told == 2)
            #expect(try await store.oldestEnrolment() == store.clock.now())
            try await Self.tell(store)
            let all = try await store.subscriptionChanges().filter {
                $0.cause == .priceIncreaseScheduled
            }
            #expect(all.count == 5 && Set(all.map(\.subscription.id)).count == 5)
            #expect(try await store.oldestEnrolment() == nil)
        }
    }

    /// The subscribers of the club come last, behind more than a page looks at.
    @Test func subscribersBehindThoseOfOtherProductsAreTold() async throws {
        try await withStore { store in
            let bronze = PaymentsTests.club("bronze", level: 3, price: usd(99))
            try await store.sell(PaymentsTests.club(), bronze)
            for name in ["bob", "carol", "dave", "eve", "frank"] {
                try await store.buy(
                    request("bronze", price: usd(99)),
                    key: name,
                    of: Self.account(name)
                )
            }
            try await store.buy(request("club", price: usd(299)), key: "1")
            let time = store.clock.now().advanced(by: .days(40))
            try await store.sell(Self.club(usd(349), from: time))
            try await Self.tell(store)
            #expect(try await store.subscription().priceIncrease?.status == .scheduled)
            let told = try await store.subscriptionChanges().filter {
                $0.cause == .priceIncreaseScheduled
            }
            #expect(told.map(\.subscription.accountID) == [alice.accountID])
            #expect(try await store.oldestEnrolment() == nil)
        }
    }

    // MARK: - Who is not told

    /// Chooses the product of alice's next period.
    private static func choose(_ product: String, in store: Store) async throws {
        _ = try await store.subscriptions.decide(
            .product(ProductID(unchecked: product)),
            on: try await store.subscription().id,
            trace: .begin()
        )
    }

    @Test func whoTakesAnotherProductBackAfterThePagesKeepsThePrice() async throws {
        try await withStore { store in
            let bronze = PaymentsTests.club("bronze", level: 3, price: usd(99))
            try await store.sell(PaymentsTests.club(), bronze)
            try await store.buy(request("club", price: usd(299)), key: "1")
            try await store.advance(days: 31)
            try await Self.choose("bronze", in: store)
            try await store.sell(
                Self.club(usd(349), from: store.clock.now().advanced(by: .days(40)))
            )
            try await Self.tell(store)
            try await Self.choose("club", in: store)
            try await store.advance(days: 65)
            let prices = try await store.transactions().map(\.price)
            #expect(prices == [usd(299), usd(299), usd(299), usd(299)])
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func whoChangesToTheProductAfterThePagesKeepsThePrice() async throws {
        try await withStore { store in
            let gold = PaymentsTests.club("gold", level: 1, price: usd(599))
            try await store.sell(PaymentsTests.club(level: 2), gold)
            try await store.buy(request("gold", price: usd(599)), key: "1")
            try await store.advance(days: 31)
            let time = store.clock.now().advanced(by: .days(40))
            var raised = Self.club(usd(349), from: time)
            raised.subscription?.level = 2
            try await store.sell(raised)
            try await Self.tell(store)
            try await Self.choose("club", in: store)
            try await store.advance(days: 65)
            let prices = try await store.transactions().map(\.price)
            #expect(prices == [usd(599), usd(599), usd(299), usd(299)])
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func whoMovesToTheStorefrontAfterThePagesKeepsItsPrice() async throws {
        try await withStore { store in
            let france = Storefront(unchecked: "FRA")
            func eur(_ amount: Int64) -> Money {
                Money(minorUnits: amount, currency: Currency(unchecked: "EUR"))
            }
            var club = PaymentsTests.club()
            club.prices[france] = eur(299)
            try await store.sell(club)
            try await store.buy(request("club", price: usd(299)), key: "1")
            try await store.advance(days: 31)
            club.version = 2
            club.priceChanges[france] = PriceChange(
                price: eur(349),
                from: store.clock.now().advanced(by: .days(40)),
                existingSubscribers: .raise
            )
            try await store.sell(club)
            try await Self.tell(store)
            try await store.say(storefront: "FRA")
            try await store.advance(days: 65)
            let prices = try await store.transactions().map(\.price)
            #expect(prices == [usd(299), usd(299), eur(299), eur(299)])
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func whoIsJustBeingChargedARaiseIsToldOfNoOther() async throws {
        try await withStore { store in
            try await store.sell(PaymentsTests.club())
            try await store.buy(request("club", price: usd(299)), key: "1")
            try await store.sell(
                Self.club(usd(349), from: store.clock.now().advanced(by: .days(20)))
            )
            try await Self.tell(store)
            try await store.advance(days: 29)
            store.clock.advance(by: .days(1))
            #expect(try await store.renewals.carryOut(limit: 10) == 1)
            #expect(try await store.subscription().charge?.price == usd(349))
            var again = PaymentsTests.club(price: usd(349), version: 3)
            again.priceChanges[Self.usa] = PriceChange(
                price: usd(399),
                from: store.clock.now().advanced(by: .days(40)),
                existingSubscribers: .raise
            )
            try await store.sell(again)
            try await Self.tell(store)
            try await store.settle()
            try await store.advance(days: 65)
            let prices = try await store.transactions().map(\.price)
            #expect(prices == [usd(299), usd(349), usd(349), usd(349)])
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func aRaiseThatCannotBeToldHoldsUpNoOther() async throws {
        try await withStore { store in
            var bronze = PaymentsTests.club("bronze", level: 3, price: usd(99))
            try await store.sell(PaymentsTests.club(), bronze)
            try await store.buy(request("bronze", price: usd(99)), key: "1", of: bob)
            try await store.buy(request("club", price: usd(299)), key: "2")
            let time = store.clock.now().advanced(by: .days(40))
            bronze.version = 2
            bronze.priceChanges[Self.usa] = PriceChange(
                price: usd(149),
                from: time,
                existingSubscribers: .raise
            )
            try await store.sell(bronze, Self.club(usd(349), from: time))
            try await store.client.withTransaction { connection in
                _ = try connection.execute(
                    """
                    UPDATE subscriptions SET data = (data::jsonb - 'startedAt')::json
                    WHERE account_id = \(bob.accountID)
                    """
                )
            }
            try await Self.tell(store)
            #expect(try await store.subscription().priceIncrease?.status == .scheduled)
            // The store's clock waits for it.
            #expect(try await store.oldestEnrolment() == store.clock.now())
        }
    }
}

extension Store {
    /// The time at which the oldest open enrolment began.
    fileprivate func oldestEnrolment() async throws -> StoreTime? {
        try await client.withConnection { try PriceEnrolmentStore.oldest(on: $0) }
    }
}
