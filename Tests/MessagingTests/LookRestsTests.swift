import Testing

@testable import Messaging

@Suite struct LookRestsTests {
    @Test func aLoopThatFindsNothingRestsLongerEachTime() {
        var rests = LookRests(from: .seconds(1), to: .seconds(5))
        let found = [false, false, false, false, true, false, true, true]
        let lengths = found.map { rests.rest(afterFinding: $0) }
        #expect(lengths == [1, 2, 4, 5, 1, 2, 1, 1].map { .seconds($0) })
    }
}
