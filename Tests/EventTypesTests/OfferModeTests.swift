import EventTypes
import Testing

/// The names of offers, which may grow.
@Suite struct OfferModeTests {
    @Test(arguments: ["freeTrial", "payAsYouGo", "payUpFront", "barter"])
    func everyModeOfAnOfferReadsBack(mode: String) {
        #expect(OfferMode(rawValue: mode).rawValue == mode)
        let isKnown = if case .unknown = OfferMode(rawValue: mode) { false } else { true }
        #expect(isKnown == (mode != "barter"))
        #expect(OfferType(rawValue: "barter") == .unknown("barter"))
        #expect(OfferType(rawValue: "winBack") == .winBack)
    }
}
