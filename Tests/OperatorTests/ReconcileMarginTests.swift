import EventTypes
import Testing

@testable import Operator
@testable import OperatorCore

@Suite struct ReconcileMarginTests {
    private let now = StoreTime(millisecondsSinceEpoch: 1_800_000_000_000)

    private func margin(settled: Int, wait: Int, isClockSet: Bool) -> ReconcileMargin {
        ReconcileMargin(
            settled: .seconds(settled),
            wait: .seconds(wait),
            isClockSet: isClockSet
        )
    }

    @Test func onTheMachinesClockWhatChangedRecentlyIsLeftOut() {
        let margin = margin(settled: 60, wait: 0, isClockSet: false)
        #expect(margin.cutoff(at: now) == now.advanced(by: .seconds(-60)))
        #expect(margin.patience == .zero)
        #expect(self.margin(settled: 0, wait: 0, isClockSet: false).cutoff(at: now) == nil)
    }

    @Test func whatTheProcessorsListMayNotHaveYetIsLeftOut() {
        let margin = margin(settled: 60, wait: 0, isClockSet: false)
        let old = MachineTime(millisecondsSinceEpoch: now.millisecondsSinceEpoch - 300_000)
        #expect(margin.cutoff(at: now, listedUntil: old) == now.advanced(by: .seconds(-300)))
        let new = MachineTime(millisecondsSinceEpoch: now.millisecondsSinceEpoch - 1000)
        #expect(margin.cutoff(at: now, listedUntil: new) == now.advanced(by: .seconds(-60)))
        let eager = self.margin(settled: 0, wait: 0, isClockSet: false)
        #expect(eager.cutoff(at: now, listedUntil: new) == now.advanced(by: .seconds(-1)))
    }

    @Test func onAClockThatWasSetNothingIsLeftOutAndDifferencesMayPass() {
        let margin = margin(settled: 60, wait: 0, isClockSet: true)
        #expect(margin.cutoff(at: now) == nil && margin.patience == .seconds(60))
        #expect(self.margin(settled: 60, wait: 90, isClockSet: true).patience == .seconds(90))
        #expect(self.margin(settled: 0, wait: 0, isClockSet: true).patience == .zero)
    }
}
