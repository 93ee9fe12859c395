import Testing

@testable import Messaging

@Suite struct PartitionWaitTests {
    private let start = ContinuousClock.now

    @Test func aLongWaitIsToldAfterHalfAMinuteAndThenEachMinute() {
        var wait = PartitionWait()
        var toldAt: [Int] = []
        for second in 0...151
        where wait.note(true, at: start + .seconds(second)).notice == .waits {
            toldAt.append(second)
        }
        #expect(toldAt == [30, 90, 150])
        #expect(wait.note(true, at: start + .seconds(160)).length == .seconds(160))
    }

    @Test func theEndOfAWaitIsToldIfTheWaitWas() {
        var wait = PartitionWait()
        for second in 0...40 { _ = wait.note(true, at: start + .seconds(second)) }
        #expect(wait.note(false, at: start + .seconds(41)).notice == .isOver)
        #expect(wait.note(false, at: start + .seconds(42)).notice == nil)
    }

    @Test func aShortWaitIsNotTold() {
        var wait = PartitionWait()
        for second in 0...29 {
            #expect(wait.note(true, at: start + .seconds(second)).notice == nil)
        }
        let (length, notice) = wait.note(false, at: start + .seconds(60))
        #expect(length == .zero)
        #expect(notice == nil)
    }

    @Test func theNextWaitBeginsAnew() {
        var wait = PartitionWait()
        for second in 0...40 { _ = wait.note(true, at: start + .seconds(second)) }
        _ = wait.note(false, at: start + .seconds(41))
        #expect(wait.note(true, at: start + .seconds(100)).length == .zero)
        #expect(wait.note(true, at: start + .seconds(129)).notice == nil)
        #expect(wait.note(true, at: start + .seconds(130)).notice == .waits)
    }
}
