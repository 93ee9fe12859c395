import EventTypes
import Logging
import Postgres
import ServiceKit
import StoreTracing
import Subscriptions
import Synchronization
import TestSupport
import Testing

@testable import Payments

/// The look for work that no signal announces, on a real PostgreSQL.
@Suite(.timeLimit(.minutes(2))) struct WorkLookTests {
    private func kinds(_ store: Store) async throws -> Set<WorkLookStore.Kind> {
        try await WorkLookStore(client: store.client)
            .kinds(at: store.clock.now(), machinesAt: store.clock.machineNow())
    }

    @Test func nothingIsFoundWhereNothingIsToBeDone() async throws {
        try await withStore { store in
            try await store.sell(club())
            try await store.buy(request("club", price: usd(299)), key: "1")
            #expect(try await kinds(store).isEmpty)
        }
    }

    @Test func aRenewalIsFoundOnceItIsDue() async throws {
        try await withStore { store in
            try await store.sell(club())
            try await store.buy(request("club", price: usd(299)), key: "1")
            store.clock.advance(by: .days(40))
            #expect(try await kinds(store) == [.renewals])
        }
    }

    @Test func aFamilyThatHasChangedIsFoundUntilItHasBeenLookedAt() async throws {
        try await withStore { store in
            _ = try await store.family("alice", "bob")
            #expect(try await kinds(store) == [.families])
            try await store.shareAll()
            #expect(try await kinds(store).isEmpty)
        }
    }

    @Test func anExtensionOfAllSubscribersIsFound() async throws {
        try await withStore { store in
            try await store.sell(club())
            let masses = MassExtensionHandler(
                context: store.context,
                products: ProductStore(),
                didCommit: {}
            )
            let request = MassExtensionTests().wanted()
            _ = try await masses.accept(request, by: nil, trace: .begin())
            #expect(try await kinds(store) == [.extensions])
            try await masses.workOnAll()
            #expect(try await kinds(store).isEmpty)
        }
    }

    @Test func aHigherPriceIsFoundUntilItsSubscribersWereTold() async throws {
        try await withStore { store in
            try await store.sell(club())
            var dearer = club(version: 2)
            dearer.priceChanges[Storefront(unchecked: "USA")] = PriceChange(
                price: usd(349),
                from: store.clock.now().advanced(by: .days(40)),
                existingSubscribers: .raise
            )
            try await store.sell(dearer)
            #expect(try await kinds(store) == [.enrolments])
            try await PriceEnrolmentHandler(context: store.context, didCommit: {}).tellAll()
            #expect(try await kinds(store).isEmpty)
        }
    }

    @Test func anAttemptIsFoundOnceItIsDue() async throws {
        try await withStore { store in
            try await store.add(request(), key: "1")
            // The process that has just added it carries it out at once.
            #expect(try await kinds(store).isEmpty)
            store.clock.advance(by: .seconds(11))
            #expect(try await kinds(store) == [.attempts])
            try await store.recover(after: .zero)
            #expect(try await kinds(store).isEmpty)
        }
    }

    @Test func whoDoesTheWorkIsWoken() async throws {
        try await withStore { store in
            _ = try await store.family("alice", "bob")
            let woken = Mutex<[WorkLookStore.Kind]>([])
            let look = WorkLook(
                store: WorkLookStore(client: store.client),
                now: store.clock.now,
                machineNow: store.clock.machineNow,
                logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            ) { kind in
                woken.withLock { $0.append(kind) }
            }
            await look.look()
            #expect(woken.withLock { $0 } == [.families])
        }
    }
}
