import Seals
import Testing

@Suite struct LogPlaceTests {
    @Test(arguments: [
        (LogPlace(xid: 0, position: 0), "0:0"), (LogPlace(xid: 10, position: 9), "10:9"),
        (LogPlace(xid: 1_795_429_798_273_001, position: 1_000_001), "1795429798273001:1000001"),
        (
            LogPlace(xid: .max, position: .max),
            "18446744073709551615:9223372036854775807"
        ),
    ])
    func aPlaceIsReadAsItIsWritten(place: LogPlace, text: String) {
        #expect(place.description == text)
        #expect(place.utf8 == Array(text.utf8))
        #expect(LogPlace(utf8: place.utf8) == place)
    }

    @Test func aNumberBelowZeroIsWrittenAndNotRead() {
        let place = LogPlace(xid: 1, position: .min)
        #expect(place.description == "1:-9223372036854775808")
        #expect(LogPlace(utf8: place.utf8) == nil)
    }
}
