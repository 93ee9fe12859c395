import EventTypes
import Testing

@testable import Receipts

@Suite struct ConsumptionRulesTests {
    private let asked = TestChain.now
    private func after(_ hours: Double) -> StoreTime {
        asked.advanced(by: .seconds(Int64(hours * 3600)))
    }

    @Test func aReportIsLateAfterTwelveHoursOfTheStoresTime() {
        #expect(!ConsumptionRules.isLate(after(12), ofRequestAt: asked))
        #expect(
            ConsumptionRules.isLate(after(12).advanced(by: .milliseconds(1)), ofRequestAt: asked)
        )
        #expect(!ConsumptionRules.isLate(after(100), ofRequestAt: nil))
    }

    @Test func aLateReportReplacesNoneThatCameInTime() {
        #expect(ConsumptionRules.replaces(nil, by: after(13), ofRequestAt: asked))
        #expect(ConsumptionRules.replaces(after(1), by: after(11), ofRequestAt: asked))
        #expect(!ConsumptionRules.replaces(after(1), by: after(13), ofRequestAt: asked))
        #expect(ConsumptionRules.replaces(after(13), by: after(14), ofRequestAt: asked))
        // One about an earlier request is always replaced.
        #expect(ConsumptionRules.replaces(after(-1), by: after(13), ofRequestAt: asked))
    }
}
