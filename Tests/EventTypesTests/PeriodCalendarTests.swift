import EventTypes
import Foundation
import Testing

@Suite struct PeriodCalendarTests {
    private static let utc = zone("Etc/UTC")
    private static let losAngeles = zone("America/Los_Angeles")
    private static let month = SubscriptionPeriod(1, .month)
    private static let year = SubscriptionPeriod(1, .year)

    private static func zone(_ name: String) -> PeriodCalendar {
        guard let zone = TimeZone(identifier: name) else {
            preconditionFailure("The system knows the time zone \(name).")
        }
        return PeriodCalendar(timeZone: zone)
    }

    private static func time(_ text: String) throws -> StoreTime {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let date = try Date(text, strategy: style)
        return StoreTime(
            millisecondsSinceEpoch: Int64((date.timeIntervalSince1970 * 1000).rounded())
        )
    }

    private static func ends(
        _ numbers: ClosedRange<Int>,
        of period: SubscriptionPeriod,
        from anchor: String,
        in calendar: PeriodCalendar = utc
    ) throws -> [String] {
        let anchor = try time(anchor)
        return numbers.map {
            calendar.end(ofPeriod: $0, lasting: period, from: anchor).description
        }
    }

    @Test func aMonthEndStaysAMonthEnd() throws {
        let ends = try Self.ends(1...5, of: Self.month, from: "2026-01-31T10:00:00.250Z")
        #expect(
            ends == [
                "2026-02-28T10:00:00.250Z", "2026-03-31T10:00:00.250Z", "2026-04-30T10:00:00.250Z",
                "2026-05-31T10:00:00.250Z", "2026-06-30T10:00:00.250Z",
            ]
        )
    }

    @Test func aLeapDayReturnsInLeapYears() throws {
        let ends = try Self.ends(1...4, of: Self.year, from: "2024-02-29T00:00:00.000Z")
        #expect(
            ends.map { String($0.prefix(10)) } == [
                "2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29",
            ]
        )
        let month = try Self.ends(1...1, of: Self.month, from: "2024-01-30T00:00:00.000Z")
        #expect(month == ["2024-02-29T00:00:00.000Z"])
    }

    @Test(arguments: [
        (2100, "28"), (2000, "29"), (2400, "29"), (1900, "28"),
    ])
    func aCenturyIsALeapYearOnlyEveryFourHundredYears(year: Int, day: String) throws {
        let ends = try Self.ends(1...1, of: Self.month, from: "\(year)-01-31T00:00:00.000Z")
        #expect(ends == ["\(year)-02-\(day)T00:00:00.000Z"])
    }

    @Test(arguments: [
        ("P1W", "2026-01-07T23:59:59.999Z"), ("P1M", "2026-01-31T23:59:59.999Z"),
        ("P2M", "2026-02-28T23:59:59.999Z"), ("P3M", "2026-03-31T23:59:59.999Z"),
        ("P6M", "2026-06-30T23:59:59.999Z"), ("P1Y", "2026-12-31T23:59:59.999Z"),
        ("P3D", "2026-01-03T23:59:59.999Z"),
    ])
    func eachLengthCountsItsUnits(period: String, end: String) throws {
        let period = try #require(SubscriptionPeriod(iso8601: period))
        let ends = try Self.ends(1...1, of: period, from: "2025-12-31T23:59:59.999Z")
        #expect(ends == [end])
    }

    @Test func theEndOfNoPeriodIsTheAnchor() throws {
        let anchor = "2026-01-31T10:00:00.250Z"
        #expect(try Self.ends(0...0, of: Self.month, from: anchor) == [anchor])
    }

    @Test func aTimeBefore1970KeepsItsMilliseconds() throws {
        let ends = try Self.ends(1...1, of: Self.month, from: "1969-11-30T12:00:00.001Z")
        #expect(ends == ["1969-12-30T12:00:00.001Z"])
    }

    /// A real receipt of the App Store has these dates.
    @Test func theWallTimeStaysWhenSummerTimeBegins() throws {
        let ends = try Self.ends(
            1...1,
            of: Self.month,
            from: "2017-03-01T03:03:42.000Z",
            in: Self.losAngeles
        )
        #expect(ends == ["2017-03-29T02:03:42.000Z"])
    }

    @Test func aSkippedWallTimeMovesForwardByTheGap() throws {
        // 02:30 on February 8 in Los Angeles. On March 8 the clock jumps from 02:00 to 03:00.
        let ends = try Self.ends(
            1...2,
            of: Self.month,
            from: "2026-02-08T10:30:00.000Z",
            in: Self.losAngeles
        )
        #expect(ends == ["2026-03-08T10:30:00.000Z", "2026-04-08T09:30:00.000Z"])
    }

    @Test func ofARepeatedWallTimeTheFirstIsTaken() throws {
        // 01:30 on October 1 in Los Angeles. On November 1 that time occurs at 08:30 and 09:30 UTC.
        let ends = try Self.ends(
            1...1,
            of: Self.month,
            from: "2026-10-01T08:30:00.000Z",
            in: Self.losAngeles
        )
        #expect(ends == ["2026-11-01T08:30:00.000Z"])
    }

    /// The calendar of Foundation agrees in UTC, where no wall time is skipped or repeated.
    @Test(arguments: UInt64(1)...40)
    func endsInUTCAreThoseOfFoundation(seed: UInt64) throws {
        var random = Steps(seed)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = Self.utc.timeZone
        for _ in 0..<100 {
            let anchor = StoreTime(millisecondsSinceEpoch: random.time())
            let period = random.period()
            let number = 1 + Int(random.next() % 60)
            let start = Date(timeIntervalSince1970: Double(anchor.millisecondsSinceEpoch) / 1000)
            let component: Calendar.Component =
                switch period.unit {
                case .day, .week: .day
                case .month: .month
                case .year: .year
                }
            let count = number * period.value * (period.unit == .week ? 7 : 1)
            let end = try #require(calendar.date(byAdding: component, value: count, to: start))
            let expected = Int64((end.timeIntervalSince1970 * 1000).rounded())
            let found = Self.utc.end(ofPeriod: number, lasting: period, from: anchor)
            #expect(
                found.millisecondsSinceEpoch == expected,
                "period \(number) of \(period) from \(anchor)"
            )
        }
    }

    @Test(arguments: [
        "Etc/UTC", "America/Los_Angeles", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu",
        "America/St_Johns", "Pacific/Auckland",
    ])
    func periodsFollowEachOtherAndKeepTheWallTime(zone: String) throws {
        let calendar = Self.zone(zone)
        var wall = Calendar(identifier: .gregorian)
        wall.timeZone = calendar.timeZone
        for seed in UInt64(1)...20 {
            var random = Steps(seed)
            let anchor = StoreTime(millisecondsSinceEpoch: random.time() / 1000 * 1000)
            let period = random.period()
            var previous = anchor
            for number in 1...40 {
                let end = calendar.end(ofPeriod: number, lasting: period, from: anchor)
                #expect(end > previous)
                previous = end
                let begun = wall.wallTime(of: anchor)
                let ended = wall.wallTime(of: end)
                // A gap is an hour at most in these zones and years.
                let difference = (ended.second - begun.second + 86_400) % 86_400
                #expect([0, 1800, 3600].contains(difference), "\(zone): \(anchor) to \(end)")
                if period.unit == .month || period.unit == .year {
                    #expect(ended.day == min(begun.day, ended.daysInMonth))
                }
            }
        }
    }

    @Test(arguments: ["P1W", "P1M", "P2M", "P3M", "P6M", "P1Y", "P3D", "P999D"])
    func aPeriodReadsBack(text: String) throws {
        let period = try #require(SubscriptionPeriod(iso8601: text))
        #expect(period.description == text)
        let json = try JSONEncoder().encode([period])
        #expect(String(decoding: json, as: UTF8.self) == "[\"\(text)\"]")
        #expect(try JSONDecoder().decode([SubscriptionPeriod].self, from: json) == [period])
    }

    @Test(arguments: [
        "", "P", "P1", "M", "PM", "1M", "P0M", "P-1M", "P+1M", "P01M", "P1000D", "P1H", "PT1M",
        "P1Y6M", "p1m", "P1M ", "P１M",
    ])
    func anythingElseIsNoPeriod(text: String) {
        #expect(SubscriptionPeriod(iso8601: text) == nil)
    }
}

/// Numbers that follow from a seed.
private struct Steps {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }

    /// A time between 2000 and 2068.
    mutating func time() -> Int64 {
        946_684_800_000 + Int64(next()) * 1000 + Int64(next() % 1000)
    }

    mutating func period() -> SubscriptionPeriod {
        let periods = [
            SubscriptionPeriod(3, .day), SubscriptionPeriod(1, .week),
            SubscriptionPeriod(1, .month), SubscriptionPeriod(2, .month),
            SubscriptionPeriod(3, .month),
            SubscriptionPeriod(6, .month), SubscriptionPeriod(1, .year),
        ]
        return periods[Int(next() % UInt64(periods.count))]
    }
}

extension Calendar {
    /// The second of the day, the day of the month, and the length of the month at a time.
    fileprivate func wallTime(of time: StoreTime) -> (second: Int, day: Int, daysInMonth: Int) {
        let date = Date(timeIntervalSince1970: Double(time.millisecondsSinceEpoch) / 1000)
        let parts = dateComponents([.day, .hour, .minute, .second], from: date)
        return (
            (parts.hour ?? 0) * 3600 + (parts.minute ?? 0) * 60 + (parts.second ?? 0),
            parts.day ?? 0, range(of: .day, in: .month, for: date)?.count ?? 0
        )
    }
}
