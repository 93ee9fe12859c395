import EventTypes
import Postgres
import TestSupport
import Testing

@testable import Payments

/// The gap in the books of a store that was restored from a backup.
@Suite struct BookGapTests {
    private static let start = startTime.onMachines

    private func gap(at duration: Duration, of memory: BookMemory) -> BookGap? {
        memory.presentGap(at: Self.start.advanced(by: duration), startTime.advanced(by: duration))
    }

    @Test func aStoreThatIsSeenAgainAndAgainHasNoGap() {
        var memory = BookMemory(seenAt: Self.start)
        for minute in 1...10 {
            let passed = Duration.seconds(minute * 60)
            #expect(gap(at: passed, of: memory) == nil)
            let noted = memory.note(Self.start.advanced(by: passed), startTime.advanced(by: passed))
            #expect(noted == nil)
        }
        #expect(memory.gap == nil)
    }

    @Test func aSilenceIsAGapUntilTheStoreIsSeenAgain() {
        var memory = BookMemory(seenAt: Self.start)
        let (time, storeTime) = (
            Self.start.advanced(by: .seconds(61)), startTime.advanced(by: .seconds(61))
        )
        let expected = BookGap(start: Self.start, end: storeTime)
        #expect(gap(at: .seconds(61), of: memory) == expected, "also before it is noted")
        #expect(memory.note(time, storeTime) == expected)
        #expect(memory.seenAt == time && memory.gap == expected)
        #expect(gap(at: .seconds(120), of: memory) == expected, "it is not forgotten")
    }

    /// A period of the first gap may still be owed after the second.
    @Test func gapsThatFollowEachOtherAreOne() {
        let first = BookGap(start: Self.start, end: startTime.advanced(by: .seconds(3600)))
        let memory = BookMemory(seenAt: Self.start.advanced(by: .seconds(7200)), gap: first)
        let both = BookGap(start: Self.start, end: startTime.advanced(by: .seconds(9000)))
        #expect(gap(at: .seconds(9000), of: memory) == both)
        let later = Duration.seconds(200 * 86_400)
        let start = Self.start.advanced(by: later - BookMemory.reach)
        #expect(gap(at: later, of: memory)?.start == start, "nothing older is owed")
    }

    /// The clock of a sandbox may stand.
    @Test func aSilenceIsNoticedWhileTheStoresClockStands() {
        let gap = BookGap(start: Self.start, end: startTime)
        var memory = BookMemory(seenAt: Self.start, gap: gap)
        let time = Self.start.advanced(by: .seconds(61))
        #expect(memory.isSilent(at: time))
        #expect(memory.note(time, startTime) == gap)
        #expect(memory.note(time, startTime) == nil)
    }

    @Test func aClockThatWasAheadHidesNoSilenceAfterIt() {
        let early = BookMemory(seenAt: Self.start.advanced(by: .seconds(5)))
        var memory = early
        #expect(memory.note(Self.start, startTime) == nil)
        #expect(memory == early, "another instance is a little ahead")
        memory = BookMemory(seenAt: Self.start.advanced(by: .seconds(3600)))
        #expect(memory.note(Self.start, startTime) == nil)
        #expect(memory.seenAt == Self.start)
        #expect(gap(at: .seconds(61), of: memory)?.start == Self.start)
    }

    @Test func onlyWhatMayHaveBeenChargedByThenMayBeHidden() {
        let gap = BookGap(start: Self.start, end: startTime)
        #expect(gap.beginning(ofChargesFrom: startTime) == Self.start)
        #expect(gap.beginning(ofChargesFrom: startTime.advanced(by: .milliseconds(1))) == nil)
        let endless = BookGap(start: Self.start, end: nil)
        let later = startTime.advanced(by: .seconds(86_400))
        #expect(endless.beginning(ofChargesFrom: later) == Self.start)
    }

    /// A gap of long ago and one of today are one.
    @Test func noChargeIsLookedForFromLongBeforeItsPeriod() {
        let day = Duration.seconds(86_400)
        let gap = BookGap(start: Self.start, end: startTime.advanced(by: day * 60))
        let since = gap.beginning(ofChargesFrom: startTime.advanced(by: day * 50))
        #expect(since == Self.start.advanced(by: day * 49), "a setting may have changed since")
    }

    /// As after an upgrade, or with a backup from before it.
    @Test func aDatabaseThatDoesNotSayWhenItWasSeenHasAGap() async throws {
        try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
            try await database.withClient { owner in
                try await owner.countAsUnseen()
                try await database.withClient(role: PaymentsMigrations.role) { client in
                    let store = Store(client: client)
                    #expect(try await store.memory() == nil, "a new store has lost nothing")
                    try await store.sell(club())
                    _ = try await store.buy(request("club", price: usd(299)), key: "1")
                    for _ in 0..<2 { try await owner.countAsUnseen() }
                    store.clock.advance(by: .seconds(31 * 86_400))
                    #expect(try await store.renewals.carryOut(limit: 10) == 1)
                    try await store.settle()
                    #expect(store.processor.searchesAsked == 1 && store.processor.chargesAsked == 2)
                    try await store.gaps.note()
                    let time = store.clock.machineNow()
                    let memory = try #require(try await store.memory())
                    #expect(memory.seenAt == time)
                    #expect(memory.gap?.start == time.advanced(by: .zero - BookMemory.reach))
                    try await owner.countAsUnseen()
                    #expect(try await store.memory() == memory)
                }
            }
        }
    }

    @Test func theMemoryIsThatOfTheDatabase() async throws {
        try await withStore { store in
            try await store.gaps.note()
            store.clock.advance(by: .seconds(30))
            try await store.gaps.note()
            let calm = try await store.memory()
            #expect(calm == BookMemory(seenAt: store.clock.machineNow()))
            let seenAt = store.clock.machineNow()
            store.clock.advance(by: .seconds(90))
            try await store.gaps.note()
            let gap = BookGap(start: seenAt, end: store.clock.now())
            #expect(
                try await store.memory()
                    == BookMemory(seenAt: store.clock.machineNow(), gap: gap)
            )
        }
    }
}

extension Store {
    fileprivate func memory() async throws -> BookMemory? {
        try await client.withConnection { try $0.read(BookGapStore.reading()) }
    }
}

extension PostgresClient {
    /// Carries out the migration that gives an older database a memory.
    fileprivate func countAsUnseen() async throws {
        let migration = try #require(
            PaymentsMigrations.all.first { $0.name.hasSuffix("_unseen_books") }
        )
        try await withConnection { connection in
            _ = try connection.execute("\(unsafe: migration.sql)")
        }
    }
}
