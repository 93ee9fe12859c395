import EventTypes
import Logging
import Postgres
import Testing
import TestSupport

@testable import Messaging

/// The store's clock in one process, and events that are ahead of it.
@Suite(.timeLimit(.minutes(10)))
struct ProcessClockTests {
    private static let year = Duration.seconds(365 * 86_400)

    private func event(at time: StoreTime) -> ReceivedEvent {
        ReceivedEvent(
            id: EventID(bytes: .zero),
            type: .queueChanged,
            topic: "topic",
            key: "ada",
            subject: "1",
            time: time,
            data: []
        )
    }

    private func withClock(
        waitMax: Duration = .seconds(60),
        _ body: (ProcessClock, StoreTime) async throws -> Void
    ) async throws {
        try await SealedDatabase.with { log in
            try await body(ProcessClock(client: log.client, waitMax: waitMax), log.client.now)
        }
    }

    @Test func anEventWaitsForTheChangeOfTheClockThatCameBeforeIt() async throws {
        try await withClock { clock, now in
            clock.becomeCurrent()
            let ahead = now.advanced(by: Self.year)
            async let waiting: Void = clock.catchUp(with: [event(at: now), event(at: ahead)])
            clock.follow(.frozen(at: ahead), step: 1)
            try await waiting
            #expect(clock.now == ahead)
        }
    }

    @Test func nothingIsAppliedBeforeTheClockHasBeenRead() async throws {
        try await withClock(waitMax: .milliseconds(50)) { clock, now in
            await #expect(throws: MessagingError.self) {
                try await clock.catchUp(with: [event(at: now)])
            }
            clock.becomeCurrent()
            try await clock.catchUp(with: [event(at: now)])
        }
    }

    @Test func aClockThatWasSetIsNeverBeforeAnEventThatItHasLetThrough() async throws {
        try await withClock(waitMax: .milliseconds(50)) { clock, now in
            clock.becomeCurrent()
            let ahead = now.advanced(by: Self.year)
            clock.follow(.frozen(at: ahead), step: 1)
            let later = ahead.advanced(by: .seconds(3))
            try await clock.catchUp(with: [event(at: later)])
            #expect(clock.now == later)
        }
    }

    @Test func anEventAheadDoesNotMoveAClockThatWasNeverSet() async throws {
        try await withClock(waitMax: .milliseconds(50)) { clock, now in
            clock.becomeCurrent()
            try await clock.catchUp(with: [event(at: now.advanced(by: Self.year))])
            #expect(clock.now < now.advanced(by: .seconds(3600)))
        }
    }

    @Test func aClockThatWasNeverSetWaitsOnceForADatabaseThatIsFarAhead() async throws {
        try await withClock(waitMax: .seconds(5)) { clock, now in
            clock.becomeCurrent()
            let ahead = now.advanced(by: .seconds(60))
            let first = try await ContinuousClock().measure {
                try await clock.catchUp(with: [event(at: ahead)])
            }
            // One of several, because the machine may stand still.
            var next = Duration.seconds(3600)
            for _ in 0..<5 {
                let again = try await ContinuousClock().measure {
                    try await clock.catchUp(with: [event(at: ahead)])
                }
                next = min(next, again)
            }
            #expect(first >= .seconds(5) && next < .seconds(5))
        }
    }

    @Test func aClockIsHeldUntilTheLastOfThoseWhoHoldItHasEnded() async throws {
        try await SealedDatabase.with { log in
            // From the first connection on, the database's time is known.
            try await log.client.withConnection { _ in }
            let clock = ProcessClock(client: log.client)
            let held = try await clock.hold {
                let held = clock.now
                try await clock.hold {}
                try await eventually("time to pass") { log.client.now > held ? true : nil }
                #expect(clock.now == held)
                return held
            }
            #expect(clock.now > held)
        }
    }

    @Test func aClockThatIsHeldIsNotBeforeAnEventThatItHasLetThrough() async throws {
        try await withClock(waitMax: .milliseconds(50)) { clock, now in
            clock.becomeCurrent()
            clock.follow(.frozen(at: now), step: 1)
            let later = now.advanced(by: .seconds(3))
            try await clock.hold {
                try await clock.catchUp(with: [self.event(at: later)])
                #expect(clock.now == later)
            }
        }
    }

    @Test func anInstanceThatHasReadLessDoesNotOverwriteTheNewestChange() async throws {
        try await SealedDatabase.with { log in
            let ahead = log.client.now.advanced(by: Self.year)
            let instances = [ProcessClock(client: log.client), ProcessClock(client: log.client)]
            instances[0].follow(.frozen(at: ahead), step: 2)
            instances[1].follow(.frozen(at: log.client.now), step: 1)
            for instance in instances { _ = try await instance.save(after: 0) }
            let next = ProcessClock(client: log.client)
            try await next.load()
            #expect(next.step == 2 && next.now == ahead)
        }
    }

    @Test func aWrongMachineDoesNotHoldUpTheClockOfTheDatabase() async throws {
        let century = Int64(36_525 * 86_400) * 1_000_000
        let settings = PostgresSettings(
            url: "postgresql://nobody@127.0.0.1:1/nothing",
            applicationName: "tests"
        )
        let client = PostgresClient(
            settings: settings,
            machineClock: { PostgresTimestamp(microsecondsSinceEpoch: century) },
            logger: Logger(label: "tests")
        )
        let clock = ProcessClock(client: client)
        clock.follow(.frozen(at: StoreTime(millisecondsSinceEpoch: 5)), step: 1)
        clock.follow(
            .running(
                from: StoreTime(millisecondsSinceEpoch: 5),
                since: MachineTime(millisecondsSinceEpoch: 0),
                rate: .one,
                end: StoreClock.last
            ),
            step: 2
        )
        #expect(clock.now.millisecondsSinceEpoch == century / 1000 + 5)
        // What was given before the database's time is known is not remembered.
        clock.follow(.frozen(at: StoreTime(millisecondsSinceEpoch: 7)), step: 3)
        #expect(clock.now.millisecondsSinceEpoch == 7)
    }
}

extension PostgresClient {
    /// The store's time as long as nobody has set its clock.
    var now: StoreTime { ProcessClock(client: self).now }
}
