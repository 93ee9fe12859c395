import EventTypes
import Foundation
import Testing

@Suite struct StoreClockTests {
    static let noon = StoreTime(millisecondsSinceEpoch: 1_800_000_000_000)
    static let since = MachineTime(millisecondsSinceEpoch: 1_790_000_000_000)

    func running(_ rate: ClockRate?, end: StoreTime = StoreClock.last) throws -> StoreClock {
        .running(from: Self.noon, since: Self.since, rate: try #require(rate), end: end)
    }

    @Test func aClockThatWasNeverSetShowsTheMachinesTime() {
        #expect(
            StoreClock.machines.time(at: Self.since)
                == StoreTime(millisecondsSinceEpoch: Self.since.millisecondsSinceEpoch)
        )
    }

    @Test func aFrozenClockStandsStill() {
        let clock = StoreClock.frozen(at: Self.noon)
        #expect(clock.time(at: Self.since) == Self.noon)
        #expect(clock.time(at: Self.since.advanced(by: .seconds(86_400))) == Self.noon)
    }

    @Test func anHourAtADayAnHourIsADay() throws {
        let clock = try running(ClockRate(.seconds(86_400), each: .seconds(3600)))
        #expect(clock.time(at: Self.since) == Self.noon)
        #expect(
            clock.time(at: Self.since.advanced(by: .seconds(3600)))
                == Self.noon.advanced(by: .seconds(86_400))
        )
        #expect(
            clock.time(at: Self.since.advanced(by: .milliseconds(1)))
                == Self.noon.advanced(by: .milliseconds(24))
        )
    }

    /// A month of 30 days in seven minutes has no whole number of milliseconds for each millisecond.
    @Test func anUnevenRateLosesNothingOverTime() throws {
        let clock = try running(ClockRate(.seconds(30 * 86_400), each: .seconds(7 * 60)))
        #expect(
            clock.time(at: Self.since.advanced(by: .seconds(70 * 60)))
                == Self.noon.advanced(by: .seconds(300 * 86_400))
        )
    }

    @Test func aRunningClockShowsNothingBeforeItsStart() throws {
        let clock = try running(.one)
        #expect(clock.time(at: Self.since.advanced(by: .seconds(-5))) == Self.noon)
    }

    @Test func aRunningClockStandsStillAtItsEnd() throws {
        let end = Self.noon.advanced(by: .seconds(10))
        let clock = try running(.one, end: end)
        #expect(clock.time(at: Self.since.advanced(by: .seconds(10))) == end)
        #expect(clock.time(at: Self.since.advanced(by: .seconds(11))) == end)
    }

    @Test func theFastestClockOfACenturyStopsAtItsEnd() throws {
        let fastest = ClockRate(.seconds(ClockRate.max), each: .seconds(1))
        let clock = try running(fastest)
        #expect(clock.time(at: Self.since.advanced(by: ClockSpan.max)) == StoreClock.last)
        let farthest = MachineTime(millisecondsSinceEpoch: .max / 2)
        #expect(clock.time(at: farthest) == StoreClock.last)
    }

    @Test func aRateIsAtLeastTheMachinesAndAtMostAYearASecond() {
        #expect(ClockRate(.seconds(1), each: .seconds(1)) == .one)
        #expect(
            ClockRate(.seconds(48), each: .seconds(2)) == ClockRate(.seconds(24), each: .seconds(1))
        )
        #expect(ClockRate(.milliseconds(999), each: .seconds(1)) == nil)
        #expect(ClockRate(.seconds(1), each: .zero) == nil)
        #expect(ClockRate(.seconds(-2), each: .seconds(-1)) == nil)
        #expect(ClockRate(.seconds(ClockRate.max), each: .seconds(1)) != nil)
        #expect(ClockRate(.seconds(ClockRate.max + 1), each: .seconds(1)) == nil)
        #expect(ClockRate(.seconds(Int64.max), each: .seconds(1)) == nil)
    }

    @Test func aFollowedClockKeepsTheNewestStepWhateverTheOrder() {
        var clock = FollowedClock()
        let (later, earlier) = (StoreClock.frozen(at: Self.noon), StoreClock.machines)
        let news = [
            clock.follow(later, step: 2), clock.follow(earlier, step: 1),
            clock.follow(earlier, step: 2),
        ]
        #expect(news == [true, false, false])
        #expect(clock.clock == later && clock.step == 2)
    }

    @Test func aClockThatWasSetNeverRunsBackwards() throws {
        var clock = FollowedClock()
        let shown = clock.now(at: Self.since)
        clock.follow(.frozen(at: shown.advanced(by: .seconds(-1))), step: 1)
        let frozen = clock.now(at: Self.since)
        #expect(frozen == shown)
        clock.follow(try running(.one), step: 2)
        let later = clock.now(at: Self.since.advanced(by: .seconds(60)))
        #expect(later == Self.noon.advanced(by: .seconds(60)))
        let again = clock.now(at: Self.since.advanced(by: .seconds(-60)))
        #expect(again == later)
    }

    @Test func aClockThatWasSetIsNeverBeforeATimeThatItHasSeen() {
        var clock = FollowedClock(.frozen(at: Self.noon), step: 1)
        clock.see(Self.noon.advanced(by: .seconds(3)))
        clock.see(Self.noon)
        let shown = clock.now(at: Self.since)
        #expect(shown == Self.noon.advanced(by: .seconds(3)))
        var unset = FollowedClock()
        unset.see(Self.noon.advanced(by: .seconds(1_000_000)))
        let machines = unset.now(at: Self.since)
        #expect(machines == StoreClock.machines.time(at: Self.since))
    }

    @Test func everyClockReadsBack() throws {
        let rates = try ["1s=1s", "1h=1d", "5m=4w2d", "7ms=11ms"].map {
            try #require(ClockRate($0))
        }
        let clocks =
            [StoreClock.machines, .frozen(at: Self.noon)] + (try rates.map { try running($0) })
        for clock in clocks {
            let data = try JSONEncoder().encode(clock)
            #expect(try JSONDecoder().decode(StoreClock.self, from: data) == clock)
        }
        for text in [#"{"mode":"backwards"}"#, #"{"mode":"frozen"}"#, #"{}"#] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(StoreClock.self, from: Data(text.utf8))
            }
        }
    }

    @Test func aClockThatWasNeverSetFollowsTheMachinesBack() {
        var clock = FollowedClock()
        let ahead = clock.now(at: Self.since.advanced(by: .seconds(86_400)))
        let corrected = clock.now(at: Self.since)
        #expect(corrected == ahead.advanced(by: .seconds(-86_400)))
    }
}
