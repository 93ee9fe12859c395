import Testing

@testable import Messaging

@Suite struct PaceTests {
    private let work = Duration.milliseconds(10)

    @Test func aFewEventsAreFollowedByAShortRest() {
        #expect(Pace().length(ofRestAfter: work, events: 4) == work / 16)
        #expect(Pace().length(ofRestAfter: work, events: 32) == work / 2)
        #expect(Pace(restPerWork: 1).length(ofRestAfter: work, events: 32) == work / 2)
    }

    @Test func aRestGrowsWithTheEvents() {
        #expect(Pace().length(ofRestAfter: work, events: 64) == work)
        #expect(Pace().length(ofRestAfter: work, events: 127) == work)
        #expect(Pace().length(ofRestAfter: work, events: 160) == work * 2)
    }

    @Test func manyEventsAreFollowedByALongRest() {
        #expect(Pace().length(ofRestAfter: work, events: 500) == work * 4)
        #expect(Pace(restPerWork: 1).length(ofRestAfter: work, events: 500) == work)
    }

    @Test func noRestIsLongerThanEightyMilliseconds() {
        let rest = Pace().length(ofRestAfter: .seconds(1), events: .max)
        #expect(rest == .milliseconds(80))
    }
}
