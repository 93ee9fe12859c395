import EventTypes
import ServiceKit
import StoreTracing
import Subscriptions
import Synchronization
import TestSupport
import Testing

@testable import Payments

/// Rests between pages of work on many subscriptions.
@Suite(.timeLimit(.minutes(10))) struct PacedPagesTests {
    /// The rests that were taken.
    private final class Rests: Sendable {
        let taken = Mutex<[Duration]>([])

        var pages: PacedPages {
            PacedPages(rest: { work in self.taken.withLock { $0.append(work) } })
        }
    }

    @Test func aRestFollowsEachPageAndNothingElse() async throws {
        let rests = Rests()
        var left = 3
        try await rests.pages.carryOutAll {
            guard left > 0 else { return false }
            left -= 1
            try await Task.sleep(for: .milliseconds(2))
            return true
        }
        let taken = rests.taken.withLock { $0 }
        #expect(taken.count == 3)
        #expect(taken.allSatisfy { $0 >= .milliseconds(2) })
    }

    @Test func othersHaveMostOfTheTimeAndMoreIfTheyNeedIt() {
        let work = Duration.milliseconds(20)
        #expect(PacedPages.rest(after: work, isBusy: false) == .milliseconds(40))
        #expect(PacedPages.rest(after: work, isBusy: true) == .milliseconds(160))
        for isBusy in [false, true] {
            #expect(PacedPages.rest(after: .seconds(9), isBusy: isBusy) == .seconds(1))
        }
    }

    @Test func renewalsAndBuyersAreOthers() {
        let load = RenewalLoad()
        #expect(!load.isBusy)
        load.began(2)
        #expect(load.isBusy)
        load.carriedOut(2)
        #expect(!load.isBusy)
        load.noteBuyers()
        #expect(load.isBusy)
    }

    @Test func subscribersAreToldOfARaiseWithRests() async throws {
        try await withStore { store in
            try await Self.subscribeThree(store)
            var dearer = club(version: 2)
            dearer.priceChanges[Storefront(unchecked: "USA")] = PriceChange(
                price: usd(349),
                from: store.clock.now().advanced(by: .seconds(40 * 86_400)),
                existingSubscribers: .raise
            )
            try await store.sell(dearer)
            let rests = Rests()
            let handler = PriceEnrolmentHandler(
                context: store.context,
                didCommit: {},
                pageSize: 1,
                pages: rests.pages
            )
            let failures = try await handler.tell()
            #expect(failures.isEmpty, "\(failures)")
            #expect(rests.taken.withLock { $0.count } >= 3)
            let told = try await store.subscriptionChanges().count {
                $0.cause == .priceIncreaseScheduled
            }
            #expect(told == 3)
        }
    }

    @Test func subscribersAreExtendedWithRests() async throws {
        try await withStore { store in
            try await Self.subscribeThree(store)
            let rests = Rests()
            let handler = MassExtensionHandler(
                context: store.context,
                products: ProductStore(),
                didCommit: {},
                pageSize: 1,
                pages: rests.pages
            )
            let request = MassExtensionTests().wanted()
            _ = try await handler.accept(request, by: nil, trace: .begin())
            let failures = try await handler.work()
            #expect(failures.isEmpty, "\(failures)")
            #expect(rests.taken.withLock { $0.count } >= 3)
        }
    }

    /// Sells the club to three accounts.
    private static func subscribeThree(_ store: Store) async throws {
        try await store.sell(club())
        for name in ["alice", "bob", "carol"] {
            let account = AuthenticatedAccount(
                accountID: AccountID(unchecked: name),
                bundleID: alice.bundleID
            )
            try await store.buy(request("club", price: usd(299)), key: name, of: account)
        }
    }

    @Test func aPageThatFailsEndsTheWork() async throws {
        let rests = Rests()
        var (count, hasFailed) = (0, false)
        do {
            try await rests.pages.carryOutAll {
                count += 1
                guard count < 2 else { throw PaymentError(.undecided) }
                return true
            }
        } catch is PaymentError {
            hasFailed = true
        }
        #expect(hasFailed && count == 2)
        #expect(rests.taken.withLock { $0.count } == 1)
    }
}
