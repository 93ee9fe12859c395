import EventTypes
import OperatorCore
import Seals
import Testing

@testable import Console

@Suite struct NowRatesTests {
    private static let start = MachineTime(millisecondsSinceEpoch: 1_795_237_200_000)
    private static let purchased = EventType.transactionPurchased.rawValue

    private static func after(_ seconds: Int) -> MachineTime {
        start.advanced(by: .seconds(seconds))
    }

    private static func found(_ count: Int, isCut: Bool = false) -> EventCounts {
        EventCounts(types: [purchased: count], place: .start, isCut: isCut)
    }

    private func text(_ rates: NowRates) -> String? { rates.fields["rate.purchased"]?.text }

    @Test func purchasesOfTheLastSecondsAreARate() {
        var rates = NowRates()
        rates.add(Self.found(0), at: Self.start)
        #expect(text(rates) == "…", "one count tells no rate")
        rates.add(Self.found(10), at: Self.after(2))
        #expect(text(rates) == "5 a second")
        rates.add(Self.found(0), at: Self.after(4))
        #expect(text(rates) == "2.5 a second")
        for seconds in [6, 8, 10, 12] { rates.add(Self.found(0), at: Self.after(seconds)) }
        #expect(text(rates) == "0 a second", "they are too long ago")
    }

    @Test func afterAPauseTheRateBeginsAnew() {
        var rates = NowRates()
        rates.add(Self.found(0), at: Self.start)
        rates.add(Self.found(10), at: Self.after(2))
        // Nobody looked for a minute: the events since then say nothing about the last seconds.
        rates.add(Self.found(6000), at: Self.after(62))
        #expect(text(rates) == "…")
        rates.add(Self.found(2), at: Self.after(64))
        #expect(text(rates) == "1 a second")
    }

    @Test func aCountThatWasCutIsALowerBound() {
        var rates = NowRates()
        rates.add(Self.found(0), at: Self.start)
        rates.add(Self.found(20_000, isCut: true), at: Self.after(2))
        #expect(text(rates) == "more than 10,000 a second")
    }

    @Test func aRateIsNeverRoundedToNothing() {
        #expect(NowRates.text(of: 0.01) == "0.1")
        #expect(NowRates.text(of: 12.34) == "12.3")
        #expect(NowRates.text(of: 1250.4) == "1,250")
    }
}
