import EventTypes
import Testing

@Suite struct ClockSpanTests {
    @Test(
        arguments: [
            ("31d", 31 * 86_400_000, "4w3d"), ("1h30m", 5_400_000, "1h30m"),
            ("90m", 5_400_000, "1h30m"),
            ("500ms", 500, "500ms"), ("1s1ms", 1001, "1s1ms"),
            ("1w2d3h4m5s6ms", 788_645_006, "1w2d3h4m5s6ms"),
            ("007s", 7000, "7s"), ("0w1d", 86_400_000, "1d"),
            ("36525d", 36_525 * 86_400_000, "5217w6d"),
        ] as [(String, Int64, String)]
    )
    func isReadAndWritten(text: String, milliseconds: Int64, shortest: String) throws {
        let span = try #require(ClockSpan(text))
        #expect(span.duration == .milliseconds(milliseconds))
        #expect(span.description == shortest)
        #expect(ClockSpan(shortest) == span)
    }

    @Test(arguments: [
        "", "d", "31", "31 d", " 31d", "-1d", "+1d", "1.5h", "1M", "1y", "1D", "1mo", "1h1h",
        "1m1h",
        "0s", "36525d1ms", "36526d", "99999999999999999999d", "9223372036854775807w", "1dd", "1d=",
        "٣d",
        "1ms5", "1e3s",
    ])
    func anythingElseIsRefused(text: String) {
        #expect(ClockSpan(text) == nil)
    }

    @Test(arguments: [
        ("1h=1d", "1h=1d"), ("60m=24h", "1h=1d"), ("1s=1s", "1d=1d"), ("5m=30d", "1m=6d"),
        ("7m=30d", "7m=4w2d"), ("1s=1m", "1h=60h"),
    ])
    func aRateIsReadAndWrittenInAShortForm(text: String, shortest: String) throws {
        let rate = try #require(ClockRate(text))
        #expect(ClockRate(rate.description) == rate)
        #expect(ClockRate(shortest) == rate)
        #expect(rate.description.utf8.count <= shortest.utf8.count)
    }

    @Test(arguments: [
        "", "=", "1h", "1h=", "=1d", "1h=1d=1w", "1d=1h", "1h==1d", "1ms=1w", "0s=1d", "24",
        "1h = 1d",
    ])
    func aTextThatIsNoRateIsRefused(text: String) {
        #expect(ClockRate(text) == nil)
    }

    @Test func theLongestTimesOfARateReadBack() throws {
        let rate = try #require(ClockRate(ClockSpan.max, each: .milliseconds(3_155_759_999_999)))
        #expect(ClockRate(rate.description) == rate)
    }
}
