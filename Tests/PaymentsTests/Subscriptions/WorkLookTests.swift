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
@Suite(.timeLimit(.minutes(10))) struct WorkLookTests {
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
            let look = look(in: store, RecordedLog()) { kind in woken.withLock { $0.append(kind) } }
            await look.look()
            #expect(woken.withLock { $0 } == [.families])
        }
    }

    @Test func aTableThatCannotBeReadHoldsUpNoOtherWork() async throws {
        try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
            try await database.withClient { owner in
                try await owner.withConnection { connection in
                    _ = try connection.execute("ALTER TABLE mass_extensions RENAME TO elsewhere")
                }
            }
            try await database.withClient(role: PaymentsMigrations.role) { client in
                let store = Store(client: client)
                _ = try await store.family("alice", "bob")
                try await store.sell(product())
                try await store.add(request(), key: "1")
                store.clock.advance(by: .seconds(11))
                let log = RecordedLog()
                let woken = Mutex<[WorkLookStore.Kind]>([])
                let look = look(in: store, log) { kind in woken.withLock { $0.append(kind) } }
                await look.look()
                #expect(woken.withLock { $0 } == [.families, .attempts])
                #expect(log.levels == [.warning])
                await look.look()
                #expect(log.levels == [.warning], "it warns once a minute")
            }
        }
    }

    /// Each kind alone is found as all kinds together are.
    @Test func oneKindIsFoundByItself() async throws {
        try await withStore { store in
            _ = try await store.family("alice", "bob")
            try await store.sell(club())
            try await store.buy(request("club", price: usd(299)), key: "1")
            store.clock.advance(by: .days(40))
            let (time, machineTime) = (store.clock.now(), store.clock.machineNow())
            let looks = WorkLookStore(client: store.client)
            var found: Set<WorkLookStore.Kind> = []
            for kind in WorkLookStore.Kind.allCases {
                let isThere = try await looks.has(kind, at: time, machinesAt: machineTime)
                if isThere { found.insert(kind) }
            }
            #expect(found == [.renewals, .families])
            #expect(try await kinds(store) == found)
        }
    }

    /// A look that tells whom it wakes.
    private func look(
        in store: Store,
        _ log: RecordedLog,
        _ wake: @escaping @Sendable (WorkLookStore.Kind) -> Void
    ) -> WorkLook {
        WorkLook(
            store: WorkLookStore(client: store.client),
            now: store.clock.now,
            machineNow: store.clock.machineNow,
            logger: log.logger,
            wake: wake
        )
    }
}
