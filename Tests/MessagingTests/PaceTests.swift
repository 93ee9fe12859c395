import Testing

@testable import Messaging

@Suite struct PaceTests {
    private let work = Duration.milliseconds(10)

    @Test func aFewEventsAreFollowedByAlmostNoRest() {
        #expect(Pace().length(ofRestAfter: work, events: 0) == .zero)
        #expect(Pace().length(ofRestAfter: work, events: 4) == work / 128)
        #expect(Pace().length(ofRestAfter: work, events: 16) == work / 8)
    }

    @Test func someEventsAreFollowedByARestInProportion() {
        #expect(Pace().length(ofRestAfter: work, events: 32) == work / 2)
        #expect(Pace().length(ofRestAfter: work, events: 48) == work * 3 / 4)
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
