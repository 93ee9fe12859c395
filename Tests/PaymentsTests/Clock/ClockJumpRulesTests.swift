import EventTypes
import Testing

@testable import Payments

/// Telling a clock that was set ahead from time that has passed (rule S523).
@Suite struct ClockJumpRulesTests {
    private static let hour = Duration.seconds(3600)
    private static let year = Duration.seconds(365 * 86_400)

    /// The leads of the looks of one process, each a time of the clock and the time that has passed.
    private func leads(_ looks: [(clock: Duration, passed: Duration)]) -> [Duration?] {
        var rules = ClockJumpRules()
        return looks.map { rules.lead(at: startTime.advanced(by: $0.clock), after: $0.passed) }
    }

    @Test func aProcessThatStartsAfterAYearSeesNoJump() {
        #expect(leads([(Self.year, .zero)]) == [nil])
    }

    @Test func timeThatPassesIsNoJump() {
        #expect(leads([(.zero, .zero), (Self.year, Self.year)]) == [nil, nil])
    }

    @Test func moreThanAnHourAheadIsAJumpUntilTheClockIsRight() {
        let ahead = Self.year + .seconds(1)
        let found = leads([
            (.zero, .zero), (ahead, .seconds(1)), (ahead, .seconds(1)), (.seconds(2), .seconds(2)),
        ])
        #expect(found == [nil, Self.year, Self.year, nil])
        #expect(leads([(.zero, .zero), (Self.hour, .zero)]) == [nil, nil])
        let more = Self.hour + .milliseconds(1)
        #expect(leads([(.zero, .zero), (more, .zero)]) == [nil, more])
    }

    @Test func aClockThatWentBackMayGoForwardAgainAndNoFurther() {
        let found = leads([
            (.zero, .zero), (.zero - Self.year, .seconds(1)), (.seconds(2), .seconds(2)),
            (Self.year + .seconds(3), .seconds(3)),
        ])
        #expect(found == [nil, nil, nil, Self.year])
    }

    @Test func aClockThatGainsALittleWithEachLookIsBelieved() {
        let looks = (0..<10).map { look in
            (clock: Self.hour * (look * 25), passed: Self.hour * (look * 24))
        }
        #expect(leads(looks).allSatisfy { $0 == nil })
    }

    @Test func aClockThatIsConfirmedIsBelievedFromThenOn() {
        var rules = ClockJumpRules()
        _ = rules.lead(at: startTime, after: .zero)
        let far = startTime.advanced(by: Self.year)
        let earlier = rules.lead(at: far, after: .zero, confirmed: startTime)
        #expect(earlier == Self.year, "the word was about another time")
        let now = rules.lead(at: far, after: .zero, confirmed: far.advanced(by: .seconds(-5)))
        #expect(now == nil)
        let later = rules.lead(at: far.advanced(by: .seconds(60)), after: .seconds(60))
        #expect(later == nil)
        let again = rules.lead(
            at: far.advanced(by: Self.year),
            after: .seconds(60),
            confirmed: far
        )
        #expect(again == Self.year - .seconds(60), "another jump needs another word")
    }
}
