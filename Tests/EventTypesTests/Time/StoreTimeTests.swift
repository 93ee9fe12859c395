import ClockAndIDs
import EventTypes
import Foundation
import Testing

@Suite struct StoreTimeTests {
    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000Z"),
        (1, "1970-01-01T00:00:00.001Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (1_795_237_175_250, "2026-11-21T04:59:35.250Z"),
        (1_795_237_175_999, "2026-11-21T04:59:35.999Z"),
        (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ])
    func isWrittenInUTCWithMilliseconds(milliseconds: Int64, text: String) {
        #expect(StoreTime(millisecondsSinceEpoch: milliseconds).description == text)
    }

    @Test func everyMillisecondOfASecondIsWrittenAsItIs() {
        for millisecond in Int64(0)..<1000 {
            let text = StoreTime(millisecondsSinceEpoch: 1_795_237_175_000 + millisecond)
                .description
            #expect(text.hasSuffix(":35." + String(1000 + millisecond).dropFirst() + "Z"))
        }
    }

    @Test func isANumberInJSON() throws {
        let time = StoreTime(millisecondsSinceEpoch: 1_795_237_175_250)
        #expect(
            String(decoding: try JSONEncoder().encode([time]), as: UTF8.self) == "[1795237175250]"
        )
        #expect(
            try JSONDecoder().decode([StoreTime].self, from: Data("[1795237175250]".utf8)) == [time]
        )
    }

    @Test(arguments: ["\"2026-11-21\"", "1795237175250.5", "null", "true"])
    func whatIsNoWholeNumberIsRefused(json: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([StoreTime].self, from: Data("[\(json)]".utf8))
        }
    }

    @Test func advancesAndMeasures() {
        let time = StoreTime(millisecondsSinceEpoch: 1000)
        #expect(time.advanced(by: .seconds(2)).millisecondsSinceEpoch == 3000)
        #expect(time.advanced(by: .milliseconds(-1500)).millisecondsSinceEpoch == -500)
        #expect(time.advanced(by: .microseconds(999)) == time)
        #expect(time.advanced(by: .seconds(2)).duration(since: time) == .seconds(2))
        #expect(time.duration(since: time.advanced(by: .seconds(2))) == .seconds(-2))
        #expect(time < time.advanced(by: .milliseconds(1)))
    }

    @Test func theWallClockIsTheTimeOfDay() {
        let difference = StoreTime.wallClock().date.timeIntervalSinceNow
        #expect(abs(difference) < 1)
    }
}
